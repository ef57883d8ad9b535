import type { z } from 'zod'
import type { ErrorCode } from '../error.ts'

/** The rights of a key that a call needs: `write` includes `read`, `admin` includes both. */
export type Rights = 'read' | 'write' | 'admin'

/** A response: JSON of a schema, another type of content, or nothing. */
export interface Answer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly type?: string
}

/** A chapter of the reference, in its order. */
export type Chapter = 'alarms' | 'what happened' | 'events' | 'inbox' | 'owner' | 'operators'

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
  /** Whether the body may be omitted. */
  readonly bodyOptional?: boolean
  /** Whether `token` in the query, the secret part of an address, may replace the key. */
  readonly byToken?: boolean
  /** Whether `If-Match` may name the version that an edit is based on. */
  readonly ifMatch?: boolean
  /**
   * Whether the header `Idempotency-Key` may replace the body's `idempotency_key`. `refused` says what to do instead, for
   * calls where the header would have no effect that its sender could rely on. Other calls ignore it.
   */
  readonly idempotencyHeader?: true | { readonly refused: string }
  /** Whether a one-time ticket in the query may replace the key, and `Last-Event-ID` the cursor. */
  readonly acceptsTicket?: boolean
  readonly answers: Readonly<Record<number, Answer>>
  /** Its error codes, in addition to those of every call. */
  readonly refusals?: readonly ErrorCode[]
}

/** Defines an operation and keeps its literal types. */
export function operation<const O extends Operation>(definition: O): O {
  return definition
}

type Part<S> = S extends z.ZodType ? z.output<S> : Record<string, never>

/** The validated input of a call: its parameters, query and body. */
export interface Input<O extends Operation> {
  readonly params: Part<O['params']>
  readonly query: Part<O['query']>
  readonly body: O extends { readonly bodyOptional: true } ? Partial<Part<O['body']>> : Part<O['body']>
}
