import type { Scope, State } from '../../alarm/index.ts'
import type { ListQuery } from '../index.ts'
import type { Bindable, Session } from './session.ts'

/** A source of alarms, newest first: the next rows below a place. */
export type Stream = (session: Session, below: number, limit: number) => number[]

const ENDED: readonly State[] = ['fired', 'completed', 'failed', 'timed_out', 'cancelled']
const LIVE: readonly State[] = ['active', 'paused', 'awaiting']

/** Every statement a stream may run; each has an EXPLAIN test. The place and the limit are bound last. */
export const STREAM_QUERIES = {
  owner: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  subject: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND subject = ? AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
  correlation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND correlation_id = ? AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
  conversation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND conversation_id = ?
    AND conversation_id <> '' AND seq < ? ORDER BY seq DESC LIMIT ?`,
  label: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND label = ? AND label <> '' AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
  ended: `SELECT alarm FROM wakeful_outcomes WHERE tenant = ? AND owner = ? AND status = ? AND alarm < ?
    ORDER BY alarm DESC LIMIT ?`,
  endedTarget: `SELECT alarm FROM wakeful_outcomes WHERE tenant = ? AND owner = ? AND target = ? AND status = ?
    AND alarm < ? ORDER BY alarm DESC LIMIT ?`,
  live: `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ? AND alarm < ? ORDER BY alarm DESC LIMIT ?`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ? AND target = ? AND alarm < ?
    ORDER BY alarm DESC LIMIT ?`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ? AND kind = 'report' AND alarm < ?
    ORDER BY alarm DESC LIMIT ?`,
  paused: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND paused_at IS NOT NULL AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
} as const

/** The narrowest source of what a query asks for; what it lets through is checked against the whole query. */
export function streamOf(scope: Scope, query: ListQuery): Stream {
  const by = (name: keyof typeof STREAM_QUERIES, ...values: Bindable[]): Stream => {
    const text = STREAM_QUERIES[name]
    return (session, below, limit) =>
      session
        .all<{ alarm: number }>(text, scope.tenant, scope.owner, ...values, below, limit)
        .map((row) => row.alarm)
  }
  if (query.correlationId !== undefined) return by('correlation', query.correlationId)
  if (query.subject !== undefined) return by('subject', query.subject)
  if (query.conversationId) return by('conversation', query.conversationId)
  const { states, target } = query
  if (states === undefined && target === undefined)
    return query.label ? by('label', query.label) : by('owner')
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
  return merge(streams)
}

/** Several sources as one, newest first, each alarm once. */
function merge(streams: readonly Stream[]): Stream {
  if (streams.length === 1) return streams[0]!
  return (session, below, limit) => {
    const all = new Set(streams.flatMap((stream) => stream(session, below, limit)))
    return [...all].sort((a, b) => b - a).slice(0, limit)
  }
}
