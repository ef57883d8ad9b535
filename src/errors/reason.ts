import type { Words } from './words.ts'

/** The stable codes of every refused call, in the order of the documentation. */
export const ERROR_CODES = [
  'invalid_request',
  'invalid_time',
  'invalid_rule',
  'invalid_timezone',
  'payload_too_large',
  'unauthorized',
  'forbidden',
  'not_found',
  'conflict',
  'already_ended',
  'cursor_expired',
  'quota_exceeded',
  'rate_limited',
  'store_unavailable',
  'schema_too_new',
  'internal',
] as const

/** The stable codes of every refused call. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** Whether a value read from the wire is a code that this version knows. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return (ERROR_CODES as readonly unknown[]).includes(value)
}

/** A value of a message: JSON, so that it can go over the wire. */
export type Param = string | number | boolean | null | readonly string[]

/** The values of a message by name. Names are single words, so that they are the same in TypeScript and in JSON. */
export type Params = Readonly<Record<string, Param>>

/** The parameters whose values are names of fields. */
export const FIELD_PARAMS: ReadonlySet<string> = new Set(['other', 'others', 'fields'])

/** One way in which a call can be refused: its code, and its words as a function of its parameters. */
export interface Reason<P extends Params = Params> {
  readonly code: ErrorCode
  readonly text: Text<P>
}

/** A text that needs logic. The type of its parameters is checked at every throw. */
type Text<P> = (params: P, words: Words) => string

/**
 * Reasons by their ids. Most are texts, which begin with their code (`not_found: …`) if it is not that of the catalogue. In a text,
 * - `{name}` is a parameter. A list is joined with commas, and `FIELD_PARAMS` are fields by their names in the library.
 * - `{field}` is the field that the error is about.
 * - `<maxFailures>` is a field by its name in the library, and `<misfire=skip>` a field with a value.
 */
type Definitions = Readonly<Record<string, string | Text<never> | Reason<never>>>

/** The parameters of a definition; those of a text are the names in braces. Braces around more than a name are text. */
export type ParamsIn<D> = D extends { text: Text<infer P> } | Text<infer P>
  ? P
  : { readonly [N in Exclude<InBraces<D>, 'field' | `${string}${' ' | '"'}${string}`>]: TextParam }

type InBraces<T> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | InBraces<Rest> : never

type TextParam = string | number | readonly string[]

const PLACEHOLDER = /\{([a-z]+)\}|<([a-zA-Z.]+)(?:=([^>]+))?>/g

function textOf(template: string): Text<Params> {
  return (params, words) =>
    template.replace(PLACEHOLDER, (_, name?: string, field?: string, value?: string) => {
      if (field !== undefined) return value === undefined ? words.name(field) : words.option(field, value)
      if (name === 'field') return words.it
      const values = [params[name!]!].flat()
      return FIELD_PARAMS.has(name!) ? words.names(values as string[]) : values.join(', ')
    })
}

/** The reasons that are loaded. A browser loads those of the client only; every other program loads all. */
const loaded = new Map<string, Reason>()

/** A catalogue of reasons, most of which have this code. `render` knows their texts from now on. */
export function reasons<const D extends Definitions>(code: ErrorCode, definitions: D): D {
  for (const [id, each] of Object.entries(definitions)) {
    if (typeof each === 'function') loaded.set(id, { code, text: each as Text<Params> })
    else if (typeof each === 'object') loaded.set(id, each as Reason)
    else {
      const [, own = code, template] = /^(?:([a-z_]+): )?(.*)$/.exec(each)!
      loaded.set(id, { code: own as ErrorCode, text: textOf(template!) })
    }
  }
  return definitions
}

/** The code and the text of a reason; undefined for one of another version, or one that is not loaded. */
export function reasonOf(id: string): Reason | undefined {
  return loaded.get(id)
}
