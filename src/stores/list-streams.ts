import { bySerial, type Serial, type State } from '../alarm/index.ts'
import type { ListQuery } from './store.ts'

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
