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

/** One way in which a call can be refused: its code, and its words as a function of its parameters. */
export interface Reason<P extends Params = Params> {
  readonly code: ErrorCode
  text(params: P, words: Words): string
}

/** Defines a reason; the type of its parameters is checked at every throw. */
export function reason<P extends Params = Record<never, never>>(
  code: ErrorCode,
  text: (params: P, words: Words) => string,
): Reason<P> {
  return { code, text }
}

/** The reasons that are loaded. A browser loads those of the client only; every other program loads all. */
const loaded = new Map<string, Reason>()

/** Makes the texts of reasons known to `render`. */
export function loadReasons<R extends Readonly<Record<string, unknown>>>(reasons: R): R {
  for (const [id, each] of Object.entries(reasons)) loaded.set(id, each as Reason)
  return reasons
}

/** The code and the text of a reason; undefined for one of another version, or one that is not loaded. */
export function reasonOf(id: string): Reason | undefined {
  return loaded.get(id)
}
