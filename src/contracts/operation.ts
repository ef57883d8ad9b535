import { z } from 'zod'
import type { ErrorCode } from '../error.ts'
import { type OperationName, ROUTES } from './routes.ts'

/** The rights of a key that a call needs: `write` includes `read`, `admin` includes both. */
export type Rights = 'read' | 'write' | 'admin'

/** A response: JSON of a schema, another type of content, or nothing. */
export interface Answer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly type?: string
}

/** A chapter of the reference, in its order. */
export type Chapter =
  | 'alarms'
  | 'alarms by key'
  | 'what happened'
  | 'events'
  | 'inbox'
  | 'owner'
  | 'calendars'
  | 'operators'

/**
 * One call of the API. The routes, the reference, the calls over WebSocket, the tools of MCP and the client are made from
 * it, or checked against it.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its parameters in braces, as OpenAPI writes them. */
  readonly path: `/${string}`
  readonly chapter: Chapter
  readonly rights: Rights
  readonly summary: string
  readonly description?: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
  readonly bodyOptional?: boolean
  /** Whether `token` in the query, the secret part of an address, may replace the key. */
  readonly byToken?: boolean
  /** Whether `If-Match` may name the version that an edit is based on. */
  readonly ifMatch?: boolean
  /**
   * Whether the header `Idempotency-Key` may replace the body's `idempotency_key`. False refuses it, for calls of many
   * items, each of which has its own. Other calls ignore it.
   */
  readonly idempotencyHeader?: boolean
  /** The names in the query that may be repeated. */
  readonly repeatable?: readonly string[]
  /** Whether a one-time ticket in the query may replace the key, and `Last-Event-ID` the cursor. */
  readonly acceptsTicket?: boolean
  readonly answers: Readonly<Record<number, Answer>>
  /** Its error codes, in addition to those of every call. */
  readonly refusals?: readonly ErrorCode[]
}

type Place = Pick<Operation, 'method' | 'path' | 'chapter'>

/** The operations of a chapter: their definitions, which keep their literal types, with their routes. */
export function operationsOf<
  const D extends { readonly [N in OperationName]?: Omit<Operation, keyof Place> },
>(chapter: Chapter, definitions: D) {
  const placed = Object.entries(definitions).map(([name, definition]) => {
    const [method, path] = ROUTES[name as OperationName].split(' ')
    return [name, { ...definition, method, path, chapter }]
  })
  return Object.fromEntries(placed) as { readonly [N in keyof D]: D[N] & Place }
}

/** The answers of a call that has one. */
export const ok = <S extends z.ZodType>(description: string, schema: S) => ({ 200: { description, schema } })

/** The answers of a call that makes something. */
export const created = <S extends z.ZodType>(description: string, schema: S) => ({
  201: { description, schema },
})

/** A page of a list. */
export const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() })

/** An object that the reference describes under this name. */
export const named = <S extends z.ZodRawShape>(id: string, shape: S) => z.object(shape).meta({ id })

/** For a call that takes nothing but its parameters. */
export const NO_BODY = { body: z.strictObject({}), bodyOptional: true } as const

type Part<S> = S extends z.ZodType ? z.output<S> : Record<string, never>

/** The validated input of a call: its parameters, query and body. */
export interface Input<O extends Operation> {
  readonly params: Part<O['params']>
  readonly query: Part<O['query']>
  readonly body: O extends { readonly bodyOptional: true } ? Partial<Part<O['body']>> : Part<O['body']>
}
