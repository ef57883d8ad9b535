import type { Alarms, ParsedView } from '../library/index.ts'
import type { Preview, When } from '../time/index.ts'

/** How a server is called. */
export interface ConnectOptions {
  /** The API key, `wk_…`; a server on this machine without keys needs none. */
  readonly key?: string
  /** Whose alarms, where the key does not say it: a platform's key names the owner, an operator's the tenant. */
  readonly owner?: string
  readonly tenant?: string
  /** The zone in which plain language and rules are read that name none; the server's (UTC) where nothing is said. */
  readonly timezone?: string
  /** What calls: the runtime's own `fetch` where nothing is said. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How long one try of a call may take (30 s). */
  readonly timeoutMs?: number
  /** How often a call that can safely be repeated is tried again (2). */
  readonly retries?: number
  /** How often the log is asked for by `events({ follow: true })` where the server has no stream of it (1 s). */
  readonly pollMs?: number
  /** Ends every call of this client when it is aborted. */
  readonly signal?: AbortSignal
}

/** What of the library's interface a server does not offer, or offers otherwise. */
type Different = 'calendars' | 'preview' | 'parse'

/**
 * One owner's alarms on a server: the library's interface, so that code can take either. What the library answers at
 * once is a promise here; `tx` is refused, because no transaction reaches over the network.
 */
export interface RemoteAlarms extends Omit<Alarms, Different> {
  preview(when: When, options?: { from?: Date; count?: number; timezone?: string }): Promise<Preview>
  /** What words mean; its notes are those of the first instant. */
  parse(text: string, timezone?: string): Promise<ParsedView>
  /** The same server, for this tenant and owner. */
  forTenant(tenant: string, owner?: string): RemoteAlarms
  /** The same server under other options: a signal or a time for a few calls. */
  with(options: ConnectOptions): RemoteAlarms
  /** The server's address. */
  readonly url: string
}
