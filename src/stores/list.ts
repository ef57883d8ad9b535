import {
  type Alarm,
  bySerial,
  FILTER_NAMES,
  type FilterName,
  LAST_SERIAL,
  type Serial,
  type Snapshot,
  type State,
  stateOf,
} from '../alarm/index.ts'
import type { Values } from './rows.ts'
import type { ListPosition, ListQuery } from './store.ts'

/** The few fields that most filters need, read before the whole alarm. */
export type AlarmSummary = Pick<Alarm, FilterName | 'message' | 'key' | 'createdAt'> & {
  readonly target: string
}

/** Whether the query filters by a field of the summary. */
export function needsSummary(query: ListQuery): boolean {
  const { target, text, since } = query
  const filters = [target, text, since, ...FILTER_NAMES.map((name) => query[name])]
  return filters.some((filter) => filter !== undefined)
}

/** Whether an alarm matches the query. */
export function matches(snapshot: Snapshot, query: ListQuery): boolean {
  const { alarm } = snapshot
  if (query.states !== undefined && !query.states.includes(stateOf(alarm, snapshot.timers, snapshot.outcome)))
    return false
  return summaryMatches({ ...alarm, target: alarm.target.name }, query)
}

/** Whether an alarm's summary matches the query; its state is not part of it. */
export function summaryMatches(summary: AlarmSummary, query: ListQuery): boolean {
  if (query.target !== undefined && summary.target !== query.target) return false
  if (FILTER_NAMES.some((name) => query[name] !== undefined && summary[name] !== query[name])) return false
  if (query.since !== undefined && summary.createdAt < query.since) return false
  return query.text === undefined || mentions(summary, query.text)
}

/** Rows that a list reads at a time. */
export const STRIDE_MIN = 64
/** Rows that a list with rare matches reads before it ends the page and returns a cursor. */
export const ROWS_READ_MAX = 20_000

/** A row that a list goes through: an alarm, its timer in due order, and the position after it. */
export interface ListRow {
  readonly alarm: Serial
  readonly timer?: Serial
  readonly position: ListPosition
}

/** The positions before everything, in due order and newest first. */
export const FIRST_WAKE: ListPosition = { row: 0, at: Number.MIN_SAFE_INTEGER }
export const NEWEST: ListPosition = { row: LAST_SERIAL }

/** A row in due order: an alarm, its instant, and its timer. */
export function upcomingRow(values: Values): ListRow {
  const [alarm, at, timer] = values as [Serial, number, Serial]
  return { alarm, timer, position: { row: timer, at } }
}

/** Whether an alarm is listed at this row: in due order only at the earliest timer that fires. A report that is awaited does not. */
export function isListedAt({ alarm, timers }: Snapshot, { timer }: Pick<ListRow, 'timer'>): boolean {
  if (timer === undefined) return true
  const waking = timers.filter(
    ({ wakeAt, kind, generation }) => wakeAt !== null && kind !== 'report' && generation === alarm.generation,
  )
  const [first] = waking.sort((a, b) => a.wakeAt! - b.wakeAt! || bySerial(a.id, b.id))
  return first?.id === timer
}

function mentions({ label, message, key, subject }: AlarmSummary, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/)
  const all = [label, message, key ?? '', subject ?? ''].join('\n').toLowerCase()
  return words.every((word) => all.includes(word))
}

/** The sources of alarms that a store has an index for, each newest first. */
export type StreamName =
  | 'owner'
  | 'subject'
  | 'correlation'
  | 'ownCorrelation'
  | 'conversation'
  | 'label'
  | 'ended'
  | 'endedTarget'
  | 'live'
  | 'liveTarget'
  | 'awaiting'
  | 'paused'

/** A source, and the values bound after tenant and owner. */
export interface ListStream {
  readonly name: StreamName
  readonly values: readonly string[]
}

const ENDED: readonly State[] = ['fired', 'completed', 'failed', 'timed_out', 'cancelled']
const LIVE: readonly State[] = ['active', 'paused', 'awaiting']

/** The narrowest sources for a query; their alarms are then checked against the whole query. */
export function streamsOf(query: ListQuery): readonly ListStream[] {
  const by = (name: StreamName, ...values: string[]): ListStream => ({ name, values })
  const { correlationId } = query
  // The default correlation id is the alarm's id.
  if (correlationId !== undefined)
    return [by('correlation', correlationId), by('ownCorrelation', correlationId)]
  if (query.subject !== undefined) return [by('subject', query.subject)]
  if (query.conversationId) return [by('conversation', query.conversationId)]
  const { states, target } = query
  if (states === undefined && target === undefined)
    return [query.label ? by('label', query.label) : by('owner')]
  const wanted = states ?? [...LIVE, ...ENDED]
  const ended = wanted.filter((state) => ENDED.includes(state))
  const streams = ended.map((state) =>
    target === undefined ? by('ended', state) : by('endedTarget', target, state),
  )
  if (target !== undefined && wanted.some((state) => LIVE.includes(state)))
    streams.push(by('liveTarget', target))
  else if (wanted.includes('active')) streams.push(by('live'))
  else {
    if (wanted.includes('awaiting')) streams.push(by('awaiting'))
    if (wanted.includes('paused')) streams.push(by('paused'))
  }
  return streams
}

/** Merges the rows of several streams into one list, newest first, each alarm once. */
export function mergeStreams(found: readonly (readonly Values[])[], limit: number): ListRow[] {
  const all = found.map((rows) => rows.map(([alarm]) => alarm as Serial))
  const seqs = all.length === 1 ? all[0]! : [...new Set(all.flat())].sort((a, b) => bySerial(b, a))
  return seqs.slice(0, limit).map((alarm) => ({ alarm, position: { row: alarm } }))
}
