import { type Logger, pino } from 'pino'
import { display } from '../../error.ts'
import { redacted, redactedError, redactedText } from '../../redaction/index.ts'
import type { AdminAct, Caller } from '../auth/index.ts'
import { LogThrottle } from '../limits/index.ts'

/** From which line on it is logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** How a log is opened. */
export interface LogOptions {
  readonly level: LogLevel
  /** `json`: a line of JSON each; `text`: for people, without the requests. */
  readonly format: 'json' | 'text'
  /** Takes a line, its newline included. */
  readonly write: (line: string) => unknown
  /** Wall time in epoch milliseconds. */
  readonly now: () => number
  readonly pid: number
  /** A moment as people read it, for the text format; ISO 8601 by default. */
  readonly timeText?: (at: Date) => string
}

/** What is known of a request once it is answered. */
export interface Answered {
  readonly method: string
  /** The route's pattern, never the path itself: ids are no names of metrics. */
  readonly route: string
  readonly status: number
  readonly requestId: string
  readonly caller: Caller | null
  readonly thrown: unknown
}

/** A request that was answered. */
export interface RequestLine {
  readonly requestId: string
  readonly method: string
  /** The pattern of the route (`/v1/alarms/{id}`), never the address: that may hold secrets, and has no bound. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  /** Who asked, as far as it is known. */
  readonly tenant?: string | undefined
  readonly owner?: string | undefined
  /** The public id of the key. */
  readonly keyId?: string | undefined
  /** What was thrown, where the status is 5xx. */
  readonly thrown?: unknown
}

/** An answered request as it is logged. */
export function requestLine(answered: Answered, durationMs: number): RequestLine {
  const { requestId, method, route, status, caller, thrown } = answered
  return {
    requestId,
    method,
    route,
    status,
    durationMs,
    tenant: caller?.tenant,
    owner: caller?.owner,
    keyId: caller?.keyId ?? undefined,
    ...(thrown !== null && { thrown }),
  }
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 }

/**
 * What a server says of itself: one line per request, trouble, admin act and turn of its life. Every text passes the
 * redaction, so that no key, webhook secret or password is ever in a line, wherever it came from.
 */
export class Log {
  readonly #options: LogOptions
  readonly #json: Logger
  readonly #troubles = new LogThrottle()

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

  /** A request was answered. In text it is shown to those who debug, or where it failed. */
  request(line: RequestLine): void {
    const { method, route, status, requestId: request_id, durationMs, thrown } = line
    const level = status >= 500 ? 'error' : 'info'
    const shown = level === 'info' && this.#options.format === 'text' ? 'debug' : level
    if (RANK[shown] < RANK[this.#options.level]) return
    const fields = {
      request_id,
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      tenant: line.tenant,
      owner: line.owner,
      key_id: line.keyId,
      ...(thrown !== undefined && { error: thrown }),
    }
    const why = thrown === undefined ? '' : `: ${redactedError(thrown)}`
    const text = `${method} ${route} ${status} in ${Math.round(durationMs)} ms (${request_id})${why}`
    this.#write(shown, 'request', text, fields)
  }

  /** Something went wrong beside the alarms themselves: what `onError` is told. The same again is told once a second. */
  trouble(thrown: unknown, more: Readonly<Record<string, unknown>> = {}): void {
    const message = redactedError(thrown)
    const leftOut = this.#troubles.next(message, this.#options.now())
    if (leftOut === null) return
    const again = leftOut === 0 ? '' : ` (and ${leftOut} times more before)`
    const fields = { message, ...(leftOut > 0 && { left_out: leftOut }), ...more, error: thrown }
    this.#write('error', 'trouble', `trouble: ${message}${again}`, fields)
  }

  /** An administrator did something: kept at every level but `silent`. */
  audit({ by, act, tenant, about }: AdminAct): void {
    if (this.#options.level === 'silent') return
    const what = Object.entries(redacted({ tenant, ...about }) as object)
    const said = what.map(([name, value]) => `${name} ${display(value)}`)
    const text = [`audit: ${act} by ${by}`, ...said].join(', ')
    this.#put('info', 'audit', text, { audit: true, by, act, tenant, about })
  }

  /** A turn in the server's life, such as that it serves, or stops: `text` for people, `more` for programs. */
  say(
    type: string,
    text: string,
    more: Readonly<Record<string, unknown>> = {},
    level: LogLevel = 'info',
  ): void {
    this.#write(level, type, text, more)
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
