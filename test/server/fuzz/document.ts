import type { OperationName } from '../../../src/contracts/index.ts'
import { openApi } from '../../../src/server/index.ts'

/** The parts of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly examples?: readonly unknown[]
}

/** One call of the document. */
export interface Endpoint {
  readonly name: OperationName
  readonly method: string
  readonly path: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly body: Schema | null
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Record<string, { readonly schema: Schema }> }
    >
  >
}

interface Written {
  readonly operationId: OperationName
  readonly parameters: Endpoint['parameters']
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> }
  readonly responses: Endpoint['responses']
}

const document = openApi('0.0.0') as unknown as {
  readonly paths: Record<string, Record<string, Written>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

/** Every call of the OpenAPI document. */
export const endpoints: readonly Endpoint[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses }]) => ({
    name: operationId,
    method: method.toUpperCase(),
    path,
    parameters,
    body: requestBody?.content['application/json']?.schema ?? null,
    responses,
  })),
)

/** The schema, with references resolved. */
export function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const found = document.components.schemas[schema.$ref.split('/').at(-1)!]
  if (found === undefined) throw new Error(`the document has no ${schema.$ref}`)
  return resolved(found)
}
