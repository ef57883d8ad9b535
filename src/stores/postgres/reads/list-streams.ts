import type { Scope, Serial } from '../../../alarm/index.ts'
import { type ListQuery, mergeStreams, type StreamName, streamsOf } from '../../index.ts'
import type { Session } from '../connection/index.ts'

/** A source of alarms, newest first: the next rows below a place. */
export type Stream = (session: Session, below: Serial, limit: number) => Promise<readonly Serial[]>

/**
 * Every statement a stream may run; each has an EXPLAIN test. Names come after tenant and owner, then place and limit.
 * The last name is compared together with the row's number: were it merely equal, the planner may walk all of the table
 * by that number, and a small tenant beside a large one would be looked for among a million rows. The names before it are
 * equal: compared too, they would let the walk go on through all of the tenant's rows, since only the first ends it.
 */
export const STREAM_QUERIES = {
  owner: `SELECT seq FROM wakeful.alarms WHERE tenant = $1
    AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`,
  subject: `SELECT seq FROM wakeful.alarms WHERE subject IS NOT NULL AND tenant = $1 AND owner = $2
    AND (subject, seq) < ($3, $4::bigint) AND (subject, seq) > ($3, 0)
    ORDER BY subject DESC, seq DESC LIMIT $5::bigint`,
  correlation: `SELECT seq FROM wakeful.alarms WHERE correlation_id <> id AND tenant = $1 AND owner = $2
    AND (correlation_id, seq) < ($3, $4::bigint) AND (correlation_id, seq) > ($3, 0)
    ORDER BY correlation_id DESC, seq DESC LIMIT $5::bigint`,
  ownCorrelation: `SELECT seq FROM wakeful.alarms WHERE id = $3 AND correlation_id = id AND tenant = $1 AND owner = $2
    AND seq < $4::bigint LIMIT $5::bigint`,
  conversation: `SELECT seq FROM wakeful.alarms WHERE conversation_id <> '' AND tenant = $1 AND owner = $2
    AND (conversation_id, seq) < ($3, $4::bigint) AND (conversation_id, seq) > ($3, 0)
    ORDER BY conversation_id DESC, seq DESC LIMIT $5::bigint`,
  label: `SELECT seq FROM wakeful.alarms WHERE label <> '' AND tenant = $1 AND owner = $2
    AND (label, seq) < ($3, $4::bigint) AND (label, seq) > ($3, 0) ORDER BY label DESC, seq DESC LIMIT $5::bigint`,
  ended: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL AND tenant = $1 AND owner = $2
    AND (status, alarm) < ($3, $4::bigint) AND (status, alarm) > ($3, 0)
    ORDER BY status DESC, alarm DESC LIMIT $5::bigint`,
  endedTarget: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL AND tenant = $1 AND owner = $2 AND target = $3
    AND (status, alarm) < ($4, $5::bigint) AND (status, alarm) > ($4, 0)
    ORDER BY status DESC, alarm DESC LIMIT $6::bigint`,
  live: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND alarm < $3::bigint
    ORDER BY alarm DESC LIMIT $4::bigint`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND target = $3
    AND alarm < $4::bigint ORDER BY alarm DESC LIMIT $5::bigint`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND kind = 'report'
    AND alarm < $3::bigint ORDER BY alarm DESC LIMIT $4::bigint`,
  paused: `SELECT seq FROM wakeful.alarms WHERE paused_at IS NOT NULL AND tenant = $1
    AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`,
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
