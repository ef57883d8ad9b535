import type { Origin } from '../../alarm/index.ts'
import type { When } from '../../time/index.ts'

/** An event that you append to the log. */
export interface OwnEventInput {
  /** A name with a dot, such as `order.paid`. */
  readonly type: string
  readonly subject?: string
  readonly correlationId?: string
  /** Any JSON object, or `rawJson(text)`. */
  readonly data?: unknown
}

/** A row of the log, as users see it. */
export interface EventView {
  readonly id: string
  readonly cursor: string
  readonly tenant: string
  /** Only in a read across owners or tenants. */
  readonly owner?: string
  readonly type: string
  readonly origin: string
  readonly alarmId: string | null
  readonly occurrenceId: string | null
  readonly key: string | null
  readonly subject: string | null
  readonly correlationId: string | null
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
  /** The data as JSON text, byte for byte. Use it for numbers beyond 2^53, which lose digits in `data`. */
  readonly dataJson: string
}

/** How to read the log. */
export interface EventsOptions {
  /** Start after this cursor, or at the end of the log (`newest`). The default is the beginning. */
  readonly after?: string
  /** Continue with events that are appended later, until you abort the signal or `break`. */
  readonly follow?: boolean
  readonly alarmId?: string
  /** Only events of these types: `alarm.fired`, or `alarm.*` for all that begin with `alarm.`. */
  readonly type?: string | readonly string[]
  /** Only events of this origin. */
  readonly origin?: Origin
  readonly subject?: string
  readonly correlationId?: string
  /** Only events at or after this time: an instant, seconds since 1970 as a string, or a duration before now. */
  readonly since?: When
  /** Only events before this time. Not together with `follow`. */
  readonly until?: When
  readonly signal?: AbortSignal
}

/** A page of the log. It is empty where no event matches. */
export interface EventsPage {
  readonly items: readonly EventView[]
  /** Continue after this cursor. */
  readonly nextCursor: string
}
