import { type Failure, occurrenceId, type Serial, type Snapshot } from '../alarm/index.ts'
import type { Values } from './rows.ts'
import type { Selector } from './store.ts'

/** Which failures to read. */
export interface FailureQuery {
  readonly kinds?: readonly Failure[] | undefined
  /** Only those of alarms with this target. */
  readonly target?: string | undefined
  /** Only one-shot alarms that were set, and occurrences of recurring alarms that ended, at or after this instant. */
  readonly since?: number | undefined
  readonly limit: number
  /** The position in the log where the previous page ended. */
  readonly after?: Serial | undefined
}

/** The event of a failure, as far as lists of failures need it. */
export interface FailureRecord {
  readonly seq: Serial
  readonly failure: Failure
  /** The occurrence's name within its alarm. */
  readonly occurrence: string | null
  readonly type: string
  readonly at: number
  /** JSON text. */
  readonly data: string
}

/** A failure, and its alarm as it is now. */
export interface FailureItem {
  readonly record: FailureRecord
  readonly snapshot: Snapshot
}

/** A page of failures; it ends at its limit or at `PAGE_BYTES_MAX` of content. */
export interface FailurePage {
  readonly items: readonly FailureItem[]
  readonly next: Serial | null
}

/** The columns of the statements that read failures, before the alarm's. */
export const FAILURE_COLUMNS = 'seq, failure, occurrence, type, at, data, alarm'

/** The record of a row of these columns. */
export function failureOf(values: Values): FailureRecord & { readonly alarm: Serial } {
  const [seq, failure, occurrence, type, at, data, alarm] = values as FailureValues
  return { seq, failure, occurrence, type, at, data, alarm }
}

type FailureValues = [Serial, Failure, string | null, string, number, string, Serial]

/** Whether a failure is one of those that the query asks for, by its record and its alarm. */
export function isWanted({ record, snapshot }: FailureItem, { kinds, target, since }: FailureQuery): boolean {
  const { rule, createdAt, target: own } = snapshot.alarm
  if (kinds !== undefined && !kinds.includes(record.failure)) return false
  if (target !== undefined && own.name !== target) return false
  return since === undefined || (rule.kind === 'once' ? createdAt : record.at) >= since
}

/** The occurrence of the alarm as it is set now that an edit names, if only the log can know it: it has no timer. */
export function occurrenceInLog({ alarm, timers }: Snapshot, which: Selector): string | null {
  const named = 'occurrenceId' in which ? which.occurrenceId : undefined
  if (named === undefined || !named.startsWith(`${alarm.id}-${alarm.generation}-`)) return null
  return timers.some((timer) => occurrenceId(alarm, timer) === named)
    ? null
    : named.slice(alarm.id.length + 1)
}
