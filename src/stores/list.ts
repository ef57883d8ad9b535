import {
  type Alarm,
  bySerial,
  FILTER_NAMES,
  type FilterName,
  type Serial,
  type Snapshot,
  type State,
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

/** Merges several sources into one list, newest first, each alarm once. */
export function mergeStreams(found: readonly (readonly Serial[])[], limit: number): readonly Serial[] {
  if (found.length === 1) return found[0]!
  return [...new Set(found.flat())].sort((a, b) => bySerial(b, a)).slice(0, limit)
}
