import {
  type Alarm,
  bySerial,
  FILTER_NAMES,
  type FilterName,
  type Serial,
  type Snapshot,
  stateOf,
} from '../alarm/index.ts'
import type { ListQuery } from './store.ts'

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

/** Whether this is the alarm's earliest timer: in due order an alarm is listed there only. */
export function isEarliestTimer(snapshot: Snapshot, timerId: Serial): boolean {
  const waking = snapshot.timers.filter((timer) => timer.wakeAt !== null)
  const [first] = waking.sort((a, b) => a.wakeAt! - b.wakeAt! || bySerial(a.id, b.id))
  return first?.id === timerId
}

function mentions({ label, message, key, subject }: AlarmSummary, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/)
  const all = [label, message, key ?? '', subject ?? ''].join('\n').toLowerCase()
  return words.every((word) => all.includes(word))
}
