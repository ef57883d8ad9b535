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
  text(params: P, words: Words): string
}

/** A reason whose text needs logic; the type of its parameters is checked at every throw. */
export function reason<P extends Params = Record<never, never>>(
  code: ErrorCode,
  text: (params: P, words: Words) => string,
): Reason<P> {
  return { code, text }
}

/**
 * Reasons by their ids, most of them as `code: text`. In a text,
 * - `{name}` is a parameter. A list is joined with commas, and `FIELD_PARAMS` are fields by their names in the library.
 * - `{field}` is the field that the error is about.
 * - `<maxFailures>` is a field by its name in the library, and `<misfire=skip>` a field with a value.
 */
export type Definitions = Readonly<Record<string, `${ErrorCode}: ${string}` | Reason>>

/** The parameters of a definition; those of a text are the names in braces. Braces around more than a name are text. */
export type ParamsIn<D> =
  D extends Reason<infer P>
    ? P
    : { readonly [N in Exclude<InBraces<D>, 'field' | `${string}${' ' | '"'}${string}`>]: TextParam }

type InBraces<T> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | InBraces<Rest> : never

type TextParam = string | number | readonly string[]

const PLACEHOLDER = /\{([a-z]+)\}|<([a-zA-Z.]+)(?:=([^>]+))?>/g

function reasonOfText(definition: string): Reason {
  const colon = definition.indexOf(': ')
  const template = definition.slice(colon + 2)
  return {
    code: definition.slice(0, colon) as ErrorCode,
    text: (params, words) =>
      template.replace(PLACEHOLDER, (_, name?: string, field?: string, value?: string) => {
        if (field !== undefined) return value === undefined ? words.name(field) : words.option(field, value)
        if (name === 'field') return words.it
        const values = [params[name!]!].flat()
        return FIELD_PARAMS.has(name!) ? words.names(values as string[]) : values.join(', ')
      }),
  }
}

/** The reasons that are loaded. A browser loads those of the client only; every other program loads all. */
const loaded = new Map<string, Reason>()

/** Makes the texts of reasons known to `render`. */
export function loadReasons<D extends Definitions>(definitions: D): D {
  for (const [id, each] of Object.entries(definitions))
    loaded.set(id, typeof each === 'string' ? reasonOfText(each) : each)
  return definitions
}

/** The code and the text of a reason; undefined for one of another version, or one that is not loaded. */
export function reasonOf(id: string): Reason | undefined {
  return loaded.get(id)
}
