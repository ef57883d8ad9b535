import type { Input, Operation, OperationName, operations } from '../../contracts/index.ts'
import type { Caller } from '../auth/index.ts'

/** What a call is answered with: JSON as text, so that what users wrote is never parsed on its way (promise: verbatim). */
export interface Reply {
  readonly status: number
  readonly json: string
  /** Where it is no JSON: what it is. */
  readonly type?: string
  /** The version of what is answered, for `ETag` and `If-Match`. */
  readonly version?: string
  /** In place of JSON: server-sent events, until either side ends them. */
  readonly stream?: ReadableStream<Uint8Array>
}

/** What a call is given beside its own input. */
export interface CallContext {
  readonly caller: Caller
  /** The version an edit was made from. */
  readonly seen?: string
  /** The W3C trace the call belongs to. */
  readonly traceparent?: string
  /** Where a stream that broke off was. */
  readonly lastEventId?: string
  /** Cuts the connection of a caller who takes nothing of a stream. */
  readonly hangUp?: () => void
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal
}

/** What does the work of an operation. */
export type Call<O extends Operation> = (input: Input<O>, around: CallContext) => Reply | Promise<Reply>

/** The work of the named operations. */
export type CallsOf<N extends OperationName> = { readonly [K in N]: Call<(typeof operations)[K]> }

/** An answer of 200 with this JSON. */
export function ok(json: string, version?: string): Reply {
  return { status: 200, json, ...(version !== undefined && { version }) }
}
