import type {
  ByKey,
  Input,
  OneAlarmCall,
  Operation,
  OperationName,
  operations,
} from '../../contracts/index.ts'
import type { AlarmRef } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'

/** The answer to a call: JSON as text, so that what users wrote is returned exactly as it was sent (promise: verbatim). */
export interface Reply {
  readonly status: number
  readonly json: string
  /** The media type, if it is not JSON. */
  readonly type?: string
  /** The version of the alarm in it, for `ETag` and `If-Match`. */
  readonly version?: string
  /** Instead of JSON: server-sent events, until either side ends them. */
  readonly stream?: ReadableStream<Uint8Array>
}

/** What a call knows besides its input. */
export interface CallContext {
  readonly caller: Caller
  /** The version an edit was made from. */
  readonly seen?: string
  /** The W3C trace the call belongs to. */
  readonly traceparent?: string
  /** The last event that the reader of a broken stream has received. */
  readonly lastEventId?: string
  /** Closes the connection of a caller that does not read its stream. */
  readonly disconnect?: () => void
  /** Aborted when the caller has disconnected. */
  readonly signal?: AbortSignal
}

/** Records what an admin did, and what it was about. */
export type Audit = (caller: Caller, act: string, about: Readonly<Record<string, unknown>>) => Promise<void>

/** What does the work of an operation. */
export type Call<O extends Operation> = (input: Input<O>, context: CallContext) => Reply | Promise<Reply>

/** The work of the named operations. That of a call on one alarm takes the alarm's id or its key. */
export type CallsOf<N extends OperationName> = {
  readonly [K in N]: K extends OneAlarmCall ? OneAlarmWork<K> : Call<(typeof operations)[K]>
}

/** The work of a call on one alarm. */
export type OneAlarmWork<N extends OneAlarmCall> = Call<(typeof operations)[N | ByKey<N>]>

/** The alarm that a call names. */
export function alarmNamed(params: { readonly id: string } | { readonly key: string }): AlarmRef {
  return 'key' in params ? { key: params.key } : params.id
}

/** An answer with a page of a list: its items as JSON, and the cursor of the next page if there is more. */
export function page(items: readonly string[], nextCursor: string | null): Reply {
  return ok(`{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`)
}

/** An answer of 200 with this JSON. */
export function ok(json: string, version?: string): Reply {
  return { status: 200, json, ...(version !== undefined && { version }) }
}
