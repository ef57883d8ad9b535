import type { Scope } from '../../alarm/index.ts'
import { type ListQuery, mergeStreams, type StreamName, streamsOf } from '../index.ts'
import type { Session } from './session.ts'

/** A source of alarms, newest first: the next rows below a place. */
export type Stream = (session: Session, below: number, limit: number) => Promise<readonly number[]>

/** Every statement a stream may run; each has an EXPLAIN test. Names come after tenant and owner, then place and limit. */
export const STREAM_QUERIES = {
  owner: `SELECT seq FROM wakeful.alarms WHERE tenant = $1 AND owner = $2 AND seq < $3::bigint
    ORDER BY seq DESC LIMIT $4::bigint`,
  subject: `SELECT seq FROM wakeful.alarms WHERE tenant = $1 AND owner = $2 AND subject = $3 AND seq < $4::bigint
    ORDER BY seq DESC LIMIT $5::bigint`,
  correlation: `SELECT seq FROM wakeful.alarms WHERE tenant = $1 AND owner = $2 AND correlation_id = $3
    AND seq < $4::bigint ORDER BY seq DESC LIMIT $5::bigint`,
  conversation: `SELECT seq FROM wakeful.alarms WHERE tenant = $1 AND owner = $2 AND conversation_id = $3
    AND conversation_id <> '' AND seq < $4::bigint ORDER BY seq DESC LIMIT $5::bigint`,
  label: `SELECT seq FROM wakeful.alarms WHERE tenant = $1 AND owner = $2 AND label = $3 AND label <> ''
    AND seq < $4::bigint ORDER BY seq DESC LIMIT $5::bigint`,
  ended: `SELECT alarm FROM wakeful.outcomes WHERE tenant = $1 AND owner = $2 AND status = $3 AND alarm < $4::bigint
    ORDER BY alarm DESC LIMIT $5::bigint`,
  endedTarget: `SELECT alarm FROM wakeful.outcomes WHERE tenant = $1 AND owner = $2 AND target = $3 AND status = $4
    AND alarm < $5::bigint ORDER BY alarm DESC LIMIT $6::bigint`,
  live: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND alarm < $3::bigint
    ORDER BY alarm DESC LIMIT $4::bigint`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND target = $3
    AND alarm < $4::bigint ORDER BY alarm DESC LIMIT $5::bigint`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND kind = 'report'
    AND alarm < $3::bigint ORDER BY alarm DESC LIMIT $4::bigint`,
  paused: `SELECT seq FROM wakeful.alarms WHERE tenant = $1 AND owner = $2 AND paused_at IS NOT NULL
    AND seq < $3::bigint ORDER BY seq DESC LIMIT $4::bigint`,
} as const satisfies Record<StreamName, string>

/** The narrowest source of what a query asks for; what it lets through is checked against the whole query. */
export function streamOf(scope: Scope, query: ListQuery): Stream {
  const streams = streamsOf(query)
  return async (session, below, limit) => {
    const found = await Promise.all(
      streams.map(async ({ name, values }) => {
        const rows = await session.rows(
          STREAM_QUERIES[name],
          scope.tenant,
          scope.owner,
          ...values,
          below,
          limit,
        )
        return rows.map(([seq]) => seq as number)
      }),
    )
    return mergeStreams(found, limit)
  }
}
