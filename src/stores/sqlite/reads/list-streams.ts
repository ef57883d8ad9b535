import type { Scope, Serial } from '../../../alarm/index.ts'
import { type ListQuery, mergeStreams, type StreamName, streamsOf } from '../../index.ts'
import type { Session } from '../connection/index.ts'

/** A source of alarms, newest first: the next rows below a place. */
export type Stream = (session: Session, below: Serial, limit: number) => readonly Serial[]

/** Every statement a stream may run; each has an EXPLAIN test. The place and the limit are bound last. */
export const STREAM_QUERIES = {
  owner: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  subject: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND subject = ? AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
  correlation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND correlation_id = ?
    AND correlation_id <> id AND seq < ? ORDER BY seq DESC LIMIT ?`,
  ownCorrelation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND id = ? AND correlation_id = id
    AND seq < ? LIMIT ?`,
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
} as const satisfies Record<StreamName, string>

/** The narrowest source of what a query asks for; what it lets through is checked against the whole query. */
export function streamOf(scope: Scope, query: ListQuery): Stream {
  const streams = streamsOf(query)
  return (session, below, limit) => {
    const found = streams.map(({ name, values }) =>
      session
        .all<{ alarm: number }>(STREAM_QUERIES[name], scope.tenant, scope.owner, ...values, below, limit)
        .map((row) => row.alarm),
    )
    return mergeStreams(found, limit)
  }
}
