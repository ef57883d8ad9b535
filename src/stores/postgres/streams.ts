import type { Scope, Serial } from '../../alarm/index.ts'
import { type ListQuery, mergeStreams, type StreamName, streamsOf } from '../index.ts'
import type { Session } from './session.ts'

/** A source of alarms, newest first: the next rows below a place. */
export type Stream = (session: Session, below: Serial, limit: number) => Promise<readonly Serial[]>

/**
 * Every statement a stream may run; each has an EXPLAIN test. Names come after tenant and owner, then place and limit.
 * Rows are compared as a whole: were the names merely equal, the planner may walk all of the table by its own number, and
 * a small tenant beside a large one would be looked for among a million rows.
 */
export const STREAM_QUERIES = {
  owner: `SELECT seq FROM wakeful.alarms
    WHERE (tenant, owner, seq) < ($1, $2, $3::bigint) AND (tenant, owner, seq) > ($1, $2, 0)
    ORDER BY tenant DESC, owner DESC, seq DESC LIMIT $4::bigint`,
  subject: `SELECT seq FROM wakeful.alarms WHERE subject IS NOT NULL
    AND (tenant, owner, subject, seq) < ($1, $2, $3, $4::bigint) AND (tenant, owner, subject, seq) > ($1, $2, $3, 0)
    ORDER BY tenant DESC, owner DESC, subject DESC, seq DESC LIMIT $5::bigint`,
  correlation: `SELECT seq FROM wakeful.alarms WHERE correlation_id <> id
    AND (tenant, owner, correlation_id, seq) < ($1, $2, $3, $4::bigint)
    AND (tenant, owner, correlation_id, seq) > ($1, $2, $3, 0)
    ORDER BY tenant DESC, owner DESC, correlation_id DESC, seq DESC LIMIT $5::bigint`,
  ownCorrelation: `SELECT seq FROM wakeful.alarms WHERE id = $3 AND correlation_id = id AND tenant = $1 AND owner = $2
    AND seq < $4::bigint LIMIT $5::bigint`,
  conversation: `SELECT seq FROM wakeful.alarms WHERE conversation_id <> ''
    AND (tenant, owner, conversation_id, seq) < ($1, $2, $3, $4::bigint)
    AND (tenant, owner, conversation_id, seq) > ($1, $2, $3, 0)
    ORDER BY tenant DESC, owner DESC, conversation_id DESC, seq DESC LIMIT $5::bigint`,
  label: `SELECT seq FROM wakeful.alarms WHERE label <> ''
    AND (tenant, owner, label, seq) < ($1, $2, $3, $4::bigint) AND (tenant, owner, label, seq) > ($1, $2, $3, 0)
    ORDER BY tenant DESC, owner DESC, label DESC, seq DESC LIMIT $5::bigint`,
  ended: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL
    AND (tenant, owner, status, alarm) < ($1, $2, $3, $4::bigint) AND (tenant, owner, status, alarm) > ($1, $2, $3, 0)
    ORDER BY tenant DESC, owner DESC, status DESC, alarm DESC LIMIT $5::bigint`,
  endedTarget: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL
    AND (tenant, owner, target, status, alarm) < ($1, $2, $3, $4, $5::bigint)
    AND (tenant, owner, target, status, alarm) > ($1, $2, $3, $4, 0)
    ORDER BY tenant DESC, owner DESC, target DESC, status DESC, alarm DESC LIMIT $6::bigint`,
  live: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND alarm < $3::bigint
    ORDER BY alarm DESC LIMIT $4::bigint`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND target = $3
    AND alarm < $4::bigint ORDER BY alarm DESC LIMIT $5::bigint`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND kind = 'report'
    AND alarm < $3::bigint ORDER BY alarm DESC LIMIT $4::bigint`,
  paused: `SELECT seq FROM wakeful.alarms WHERE paused_at IS NOT NULL
    AND (tenant, owner, seq) < ($1, $2, $3::bigint) AND (tenant, owner, seq) > ($1, $2, 0)
    ORDER BY tenant DESC, owner DESC, seq DESC LIMIT $4::bigint`,
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
        return rows.map(([seq]) => seq as Serial)
      }),
    )
    return mergeStreams(found, limit)
  }
}
