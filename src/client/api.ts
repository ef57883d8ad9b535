import type { Alarms, ParsedView } from '../library/index.ts'
import type { Preview, When } from '../time/index.ts'

/** The options of a connection. */
export interface ConnectOptions {
  /** The API key, `wk_…`. A server without keys, on the same machine, needs none. */
  readonly key?: string
  /** The owner and tenant, if the key does not fix them: a platform's key names the owner, an operator's the tenant. */
  readonly owner?: string
  readonly tenant?: string
  /** The default time zone of plain language and rules; UTC if not set. */
  readonly timezone?: string
  /** Replaces the runtime's `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** The timeout of one attempt of a call (30 s). */
  readonly timeoutMs?: number
  /** The number of retries of a call that is safe to repeat (2). */
  readonly retries?: number
  /** The polling interval of `events({ follow: true })` if the server has no stream (1 s). */
  readonly pollMs?: number
  /** Aborts every call of this client. */
  readonly signal?: AbortSignal
}

/** The parts of the library's interface that a server lacks, or has in another form. */
type Different = 'apply' | 'preview' | 'parse' | 'eventPages' | 'hasDefaultTarget'

/**
 * The alarms of one owner on a server, with the library's interface, so that code can use either. Synchronous calls of
 * the library return promises here. `tx` is an error, because a transaction does not work over the network.
 */
export interface RemoteAlarms extends Omit<Alarms, Different> {
  preview(when: When, options?: { from?: Date; count?: number; timezone?: string }): Promise<Preview>
  /** Parses a time in plain language. The notes are those of the first instant. */
  parse(text: string, timezone?: string): Promise<ParsedView>
  /** The same server, for this tenant and owner. */
  forTenant(tenant: string, owner?: string): RemoteAlarms
  /** The same server with other options, such as a signal or a timeout for a few calls. */
  with(options: ConnectOptions): RemoteAlarms
  /** The URL of the server. */
  readonly url: string
}
