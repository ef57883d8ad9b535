import type { z } from 'zod'
import type { ErrorCode } from '../error.ts'

/** What a key must be allowed to do for a call: `write` includes `read`, `admin` includes both. */
export type Rights = 'read' | 'write' | 'admin'

/** What a call answers with: JSON of a shape, or another type of content, or nothing. */
export interface Answer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly type?: string
}

/** A part of the API, in the order in which the reference tells it. */
export type Chapter = 'alarms' | 'what happened' | 'events' | 'inbox' | 'owner' | 'operators'

/**
 * One call of the API, written down once: the routes, the reference, the WebSocket's calls, the tools of MCP and the
 * client are made from it, or checked against it.
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
  /** Whether the body may be left out altogether. */
  readonly bodyOptional?: boolean
  /** Whether a secret address lets its holder in, without a key (`token` in the query). */
  readonly byToken?: boolean
  /** Whether an edit may name the version it was made from (`If-Match`). */
  readonly ifMatch?: boolean
  /**
   * Whether the body's `idempotency_key` may come as a header (`Idempotency-Key`), as other services take it; `refused`
   * where who sends it would count on it in vain: what to do instead. Other calls take no notice of it.
   */
  readonly idempotencyHeader?: true | { readonly refused: string }
  /** Whether a one-time ticket in the query may stand for the key, and `Last-Event-ID` says where to go on. */
  readonly acceptsTicket?: boolean
  readonly answers: Readonly<Record<number, Answer>>
  /** What it may refuse with, beside what every call may. */
  readonly refusals?: readonly ErrorCode[]
}

/** An operation, with its literal types kept. */
export function operation<const O extends Operation>(given: O): O {
  return given
}

type Part<S> = S extends z.ZodType ? z.output<S> : Record<string, never>

/** What a call is given: its parameters, its query and its body, checked. */
export interface Input<O extends Operation> {
  readonly params: Part<O['params']>
  readonly query: Part<O['query']>
  readonly body: O extends { readonly bodyOptional: true } ? Partial<Part<O['body']>> : Part<O['body']>
}
