import { z } from 'zod'
import { BYTES_MAX, type Operation, operations } from '../../contracts/index.ts'
import type { ErrorCode } from '../../error.ts'
import { STATUS_OF } from '../http/index.ts'

const ALWAYS: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'store_unavailable',
  'internal',
]

type Json = Record<string, unknown>

/** The API as OpenAPI 3.1, made from the contracts. */
export function openApi(version: string): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries(operations) as [string, Operation][]) {
    paths[operation.path] ??= {}
    paths[operation.path]![operation.method.toLowerCase()] = operationJson(name, operation, schemas)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Wakeful',
      version,
      description: 'Durable alarms. They fire even if every process crashed in between.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:7420', description: '`wakeful serve` on this machine' }],
    security: [{ key: [] }, {}],
    tags: [...new Set(Object.values(operations).map(({ chapter }) => chapter))].map((name) => ({ name })),
    paths,
    'x-websocket': {
      path: '/v1/ws',
      description:
        'JSON messages `{id, call, args}`, answered by `{id, result}` or `{id, error}`: every operation here by its operationId, and `subscribe` for live events. See docs/reference/websocket.md.',
    },
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `wk_…`. On this machine, without keys, none is needed.',
        },
      },
      schemas: { Problem: problemSchema(), ...schemas },
    },
  }
}

function operationJson(name: string, operation: Operation, schemas: Json): Json {
  const { chapter, summary, description, body, bodyOptional, params, query, rights } = operation
  return {
    operationId: name,
    tags: [chapter],
    summary,
    description: [description, `Needs a key with \`${rights}\` rights.`].filter(Boolean).join(' '),
    parameters: [
      ...parameters('path', params, schemas),
      ...parameters('query', query, schemas),
      ...headers(operation),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: bodyOptional !== true,
        content: { 'application/json': { schema: schemaOf(body, schemas, 'input') } },
      },
    }),
    responses: { ...answers(operation, schemas), ...refusals(operation) },
  }
}

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined, schemas: Json): Json[] {
  if (schema === undefined) return []
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...json } = schemaOf(field as z.ZodType, schemas, 'input')
    const required = place === 'path' || !(field as z.ZodType).safeParse(undefined).success
    return { name, in: place, required, ...(description !== undefined && { description }), schema: json }
  })
}

function headers({ ifMatch, idempotencyHeader }: Operation): Json[] {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description,
  })
  const match =
    'The `ETag` or the `updated_at` of the alarm you read. The edit is rejected (`conflict`) if the alarm was edited since.'
  const idempotency = 'The same as `idempotency_key` in the body. If both are there, they must be equal.'
  return [
    ...(ifMatch === true ? [header('If-Match', match)] : []),
    ...(idempotencyHeader === true ? [header('Idempotency-Key', idempotency)] : []),
  ]
}

function answers({ answers }: Operation, schemas: Json): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, type = 'application/json' }]) => [
      status,
      {
        description,
        ...(schema !== undefined && { content: { [type]: { schema: schemaOf(schema, schemas, 'output') } } }),
      },
    ]),
  )
}

/** One answer per status, with the codes it may have. */
function refusals({ refusals = [], body }: Operation): Json {
  const codes = new Map<number, ErrorCode[]>()
  const ofBodies: ErrorCode[] = body === undefined ? [] : ['payload_too_large']
  for (const code of [...refusals, ...ofBodies, ...ALWAYS]) {
    const of = codes.get(STATUS_OF[code]) ?? []
    if (!of.includes(code)) codes.set(STATUS_OF[code], [...of, code])
  }
  return Object.fromEntries(
    [...codes].map(([status, of]) => [
      status,
      {
        description: of.map((code) => `\`${code}\``).join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

function schemaOf(schema: z.ZodType, schemas: Json, io: 'input' | 'output'): Json {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json & { $defs?: Json }
  const text = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'), limitInWords) as Json
  for (const [name, definition] of Object.entries($defs ?? {})) schemas[name] = named(text(definition))
  const id = schema.meta()?.id
  if (typeof id !== 'string') return text(json)
  // One that is met on its own stands among the definitions already, and `json` merely points there.
  if (json.$ref === undefined) schemas[id] = named(text(json))
  return { $ref: `#/components/schemas/${id}` }
}

/** Adds the limit of a text to its description. */
function limitInWords(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(BYTES_MAX in value)) return value
  const { [BYTES_MAX]: max, description, ...schema } = value as Json
  return { ...schema, description: `${description} At most ${max} bytes of UTF-8.` }
}

/** In OpenAPI a schema is named by its place. */
function named({ id: _, ...schema }: Json): Json {
  return schema
}

function problemSchema(): Json {
  const field = { type: 'string', description: 'The field it is about, as a path: `items[1].delay`.' }
  const reason = { type: 'string', description: 'Why, as a stable id: see the reference of errors.' }
  const params = {
    type: 'object',
    additionalProperties: true,
    description: 'The values that `detail` names.',
  }
  const detail = { type: 'string', description: 'What was wrong, with which value, and what to do.' }
  return {
    type: 'object',
    description:
      'An error (RFC 9457). Only the answer to bytes that are not a valid HTTP request has no `reason` and `params`.',
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      code: { type: 'string', enum: Object.keys(STATUS_OF) },
      detail,
      reason,
      params,
      field,
      errors: {
        type: 'array',
        items: {
          type: 'object',
          properties: { field, detail, reason, params },
          required: ['field', 'detail', 'reason', 'params'],
        },
      },
      request_id: { type: 'string' },
    },
    required: ['type', 'title', 'status', 'code', 'detail'],
  }
}
