import type { CalendarInput } from '../time/index.ts'

/** A holiday calendar, as users see it. */
export interface CalendarView {
  readonly name: string
  /** The days off, each with its name. */
  readonly dates: Readonly<Record<string, string>>
  /** Weekdays that are off, too; 1 is Monday. */
  readonly weekend: readonly number[]
}

/** A calendar that was put, the number of pending alarms that moved, and notes about surprising dates. */
export type PutCalendar = CalendarView & { moved: number; notes: string[] }

/** A tenant's holiday calendars, which its alarms name in `exclude`. */
export interface Calendars {
  /**
   * Creates or replaces a calendar; pending alarms that name it are resolved again, and `moved` is the number that
   * moved.
   */
  put(name: string, calendar: CalendarInput): Promise<PutCalendar>
  /** Adds days to a calendar; creates it if there is none. */
  add(name: string, calendar: CalendarInput): Promise<PutCalendar>
  /** The calendar, or null if there is none. */
  get(name: string): Promise<CalendarView | null>
  list(): Promise<CalendarView[]>
  /** Deletes a calendar; returns whether there was one. Refused (`conflict`) while a live alarm names it. */
  remove(name: string): Promise<boolean>
}

/** How to fetch wakes from an inbox. */
export interface TakeOptions {
  /** How long to wait if the inbox is empty (default '0s', at most '60s'). */
  readonly wait?: string
  /** How long nobody else gets them. Unacknowledged wakes come again after it (default '60s', at most '1h'). */
  readonly hold?: string
  /** The maximum number of wakes (default 10, at most 100). */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** A wake from an inbox. */
export interface WakeView {
  readonly occurrenceId: string
  readonly alarmId: string
  readonly arrivedAt: Date
  /** How often it was fetched, including this time. */
  readonly tries: number
  /** The body, the same as that of a webhook. */
  readonly body: Readonly<Record<string, unknown>>
  /** The body as JSON text, byte for byte. */
  readonly bodyJson: string
}

/** The report on a wake. */
export interface WakeReport {
  readonly complete?: string
  readonly fail?: string
  /** The `tries` of the wake. If it was fetched again since, the call is refused (`not_found`). */
  readonly tries?: number
}

/** The wakes of alarms with the target `inbox`, for callers without a URL. */
export interface Inbox {
  /** Fetches the oldest wakes; waits for one if the inbox is empty. */
  take(options?: TakeOptions): Promise<WakeView[]>
  /** Acknowledges a wake, which removes it; with a report if its alarm awaits one. */
  ack(occurrenceId: string, report?: WakeReport): Promise<void>
}
