import { type Logger, pino } from 'pino'
import { display } from '../../error.ts'
import { redacted, redactedError, redactedText } from '../../redaction/index.ts'
import type { Caller } from '../auth/index.ts'
import { LogThrottle } from '../limits/index.ts'

/** The least severe lines that are logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** How a log is opened. */
export interface LogOptions {
  readonly level: LogLevel
  /** `json`: one JSON object per line; `text`: for people, without the requests. */
  readonly format: 'json' | 'text'
  /** Receives a line, including its newline. */
  readonly write: (line: string) => unknown
  /** Wall time in epoch milliseconds. */
  readonly now: () => number
  readonly pid: number
  /** Formats a time for the text format; ISO 8601 by default. */
  readonly timeText?: (at: Date) => string
}

/** What is known of an answered request. */
export interface Answered {
  readonly method: string
  /**
   * The route's pattern (`/v1/alarms/{id}`), never the URL: it may contain secrets, and labels of metrics must not contain
   * ids.
   */
  readonly route: string
  readonly status: number
  readonly requestId: string
  /** The caller, once it is authenticated. */
  readonly caller: Pick<Caller, 'tenant' | 'owner' | 'keyId'> | null
  /** What was thrown, if the status is 5xx; else null. */
  readonly thrown: unknown
}

/** Something an admin did. */
export interface AdminAct {
  readonly act: string
  /** Who did it: the key's public part, or `local`. */
  readonly by: string
  readonly tenant: string
  readonly about: Readonly<Record<string, unknown>>
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 }

/**
 * The server's log: one line per request, error, admin act, start and stop. Every text is redacted, so that no line
 * contains a key, webhook secret or password, wherever it came from.
 */
export class Log {
  readonly #options: LogOptions
  readonly #json: Logger
  readonly #throttle = new LogThrottle()

  constructor(options: LogOptions) {
    this.#options = options
    this.#json = pino(
      {
        level: 'trace',
        base: { pid: options.pid },
        timestamp: () => `,"at":"${new Date(options.now()).toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        messageKey: 'message',
      },
      { write: (line: string) => void options.write(line) },
    )
  }

  /** Whether its lines are JSON. */
  get isJson(): boolean {
    return this.#options.format === 'json'
  }

  /** Logs a request. In the text format only at level debug, or if it failed. */
  request({ method, route, status, requestId, caller, thrown }: Answered, durationMs: number): void {
    const level = status >= 500 ? 'error' : 'info'
    const effective = level === 'info' && this.#options.format === 'text' ? 'debug' : level
    if (RANK[effective] < RANK[this.#options.level]) return
    const fields = {
      request_id: requestId,
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      tenant: caller?.tenant,
      owner: caller?.owner,
      key_id: caller?.keyId ?? undefined,
      ...(thrown !== null && { error: thrown }),
    }
    const why = thrown === null ? '' : `: ${redactedError(thrown)}`
    const who = detailsOf({ tenant: fields.tenant, owner: fields.owner, key_id: fields.key_id })
    const text = `${method} ${route} ${status} in ${Math.round(durationMs)} ms (${requestId})${why}${who}`
    this.#write(effective, 'request', text, fields)
  }

  /** Logs an error outside of any alarm: what `onError` receives. The same message is logged once a second. */
  error(thrown: unknown, more: Readonly<Record<string, unknown>> = {}): void {
    const message = redactedError(thrown)
    const suppressed = this.#throttle.next(message, this.#options.now())
    if (suppressed === null) return
    const again = suppressed === 0 ? '' : ` (and ${suppressed} times more before)`
    const fields = { message, ...(suppressed > 0 && { left_out: suppressed }), ...more, error: thrown }
    this.#write('error', 'error', `error: ${message}${again}${detailsOf(more)}`, fields)
  }

  /** Logs what an admin did, at every level except `silent`. */
  audit({ by, act, tenant, about }: AdminAct): void {
    if (this.#options.level === 'silent') return
    const text = `audit: ${act} by ${by}${detailsOf({ tenant, ...about })}`
    this.#put('info', 'audit', text, { audit: true, by, act, tenant, about })
  }

  /** Logs that the server starts, stops and the like. Both formats have the text and the fields in `more`. */
  event(
    type: string,
    text: string,
    more: Readonly<Record<string, unknown>> = {},
    level: LogLevel = 'info',
  ): void {
    this.#write(level, type, `${text}${detailsOf(more)}`, { ...(text !== '' && { message: text }), ...more })
  }

  #write(level: LogLevel, type: string, text: string, fields: Readonly<Record<string, unknown>>): void {
    if (RANK[level] >= RANK[this.#options.level] && level !== 'silent') this.#put(level, type, text, fields)
  }

  #put(level: LogLevel, type: string, text: string, fields: Readonly<Record<string, unknown>>): void {
    const { format, write, now, timeText } = this.#options
    if (format === 'text') {
      const at = new Date(now())
      write(`${timeText?.(at) ?? at.toISOString()}  ${oneLine(redactedText(text))}\n`)
      return
    }
    this.#json[level as 'info']({ type, ...(redacted(fields) as object) })
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space))
}

/** Fields as text: `, tenant acme, owner ann`. Texts contain the message already. */
function detailsOf(fields: object): string {
  const known = Object.entries(redacted(fields) as object).filter(
    ([name, value]) => name !== 'message' && value !== undefined,
  )
  return known.map(([name, value]) => `, ${name} ${display(value)}`).join('')
}
