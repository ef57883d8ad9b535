import { MATCHED_MAX, type StreamName } from '../../index.ts'

/**
 * The statement of each stream; queries.test.ts checks its plan. Values come after tenant and owner, then the row
 * number and the limit. The owner is compared together with the row number: with a plain equality, the planner may walk
 * the whole table by row number, and search a small owner's rows among a million others. The values before it are
 * compared by equality: in the row comparison, they would let the scan continue through all of the tenant's rows,
 * because only the first column ends it.
 */
const OWNER_QUERIES = {
  newest: `SELECT seq FROM wakeful.alarms WHERE tenant = $1
    AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`,
  subject: newestBy('subject', 'subject IS NOT NULL'),
  correlation: newestBy('correlation_id', 'correlation_id <> id'),
  ownCorrelation: `SELECT seq FROM wakeful.alarms WHERE id = $3 AND correlation_id = id AND tenant = $1 AND owner = $2
    AND seq < $4::bigint LIMIT $5::bigint`,
  conversation: newestBy('conversation_id', "conversation_id <> ''"),
  label: newestBy('label', "label <> ''"),
  ended: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL AND tenant = $1 AND status = $3
    AND (owner, alarm) < ($2, $4::bigint) AND (owner, alarm) > ($2, 0)
    ORDER BY owner DESC, alarm DESC LIMIT $5::bigint`,
  endedTarget: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL AND tenant = $1 AND target = $3 AND status = $4
    AND (owner, alarm) < ($2, $5::bigint) AND (owner, alarm) > ($2, 0)
    ORDER BY owner DESC, alarm DESC LIMIT $6::bigint`,
  live: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND alarm < $3::bigint
    ORDER BY alarm DESC LIMIT $4::bigint`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND target = $3
    AND alarm < $4::bigint ORDER BY alarm DESC LIMIT $5::bigint`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND kind = 'report'
    AND alarm < $3::bigint ORDER BY alarm DESC LIMIT $4::bigint`,
  paused: `SELECT seq FROM wakeful.alarms WHERE paused_at IS NOT NULL AND tenant = $1
    AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`,
} as const satisfies Record<StreamName, string>

/** Through the partial index of this column. */
function newestBy(column: string, indexed: string): string {
  return `SELECT seq FROM wakeful.alarms WHERE ${indexed} AND tenant = $1 AND ${column} = $3
    AND (owner, seq) < ($2, $4::bigint) AND (owner, seq) > ($2, 0)
    ORDER BY owner DESC, seq DESC LIMIT $5::bigint`
}

/** The same over all owners of a tenant: the tenant, the stream's values, the row number, the limit. */
const TENANT_QUERIES = {
  newest: `SELECT seq FROM wakeful.alarms WHERE (tenant, seq) < ($1, $2::bigint) AND (tenant, seq) > ($1, 0)
    ORDER BY tenant DESC, seq DESC LIMIT $3::bigint`,
  subject: sorted('alarms', 'seq', 'subject IS NOT NULL AND subject = $2 AND tenant = $1', 3),
  correlation: sorted('alarms', 'seq', 'correlation_id <> id AND correlation_id = $2 AND tenant = $1', 3),
  ownCorrelation: `SELECT seq FROM wakeful.alarms WHERE id = $2 AND correlation_id = id AND tenant = $1
    AND seq < $3::bigint LIMIT $4::bigint`,
  conversation: sorted('alarms', 'seq', "conversation_id <> '' AND conversation_id = $2 AND tenant = $1", 3),
  label: sorted('alarms', 'seq', "label <> '' AND label = $2 AND tenant = $1", 3),
  ended: sorted('outcomes', 'alarm', 'status IS NOT NULL AND status = $2 AND tenant = $1', 3),
  endedTarget: sorted(
    'outcomes',
    'alarm',
    'status IS NOT NULL AND target = $2 AND status = $3 AND tenant = $1',
    4,
  ),
  live: sorted('timers', 'alarm', 'tenant = $1', 2),
  liveTarget: sorted('timers', 'alarm', 'target = $2 AND tenant = $1', 3),
  awaiting: sorted('timers', 'alarm', "kind = 'report' AND tenant = $1", 2),
  paused: sorted('alarms', 'seq', 'paused_at IS NOT NULL AND tenant = $1', 2),
} as const satisfies Record<StreamName, string>

/** The same over all tenants: the stream's values, the row number, the limit. */
const ALL_QUERIES = {
  newest: 'SELECT seq FROM wakeful.alarms WHERE seq < $1::bigint ORDER BY seq DESC LIMIT $2::bigint',
  subject: sorted('alarms', 'seq', 'subject IS NOT NULL AND subject = $1', 2),
  correlation: sorted('alarms', 'seq', 'correlation_id <> id AND correlation_id = $1', 2),
  ownCorrelation: `SELECT seq FROM wakeful.alarms WHERE id = $1 AND correlation_id = id AND seq < $2::bigint
    LIMIT $3::bigint`,
  conversation: sorted('alarms', 'seq', "conversation_id <> '' AND conversation_id = $1", 2),
  label: sorted('alarms', 'seq', "label <> '' AND label = $1", 2),
  ended: sorted('outcomes', 'alarm', 'status IS NOT NULL AND status = $1', 2),
  endedTarget: sorted('outcomes', 'alarm', 'status IS NOT NULL AND target = $1 AND status = $2', 3),
  live: sorted('timers', 'alarm', 'true', 1),
  liveTarget: sorted('timers', 'alarm', 'target = $1', 2),
  awaiting: sorted('timers', 'alarm', "kind = 'report'", 1),
  paused: sorted('alarms', 'seq', 'paused_at IS NOT NULL', 1),
} as const satisfies Record<StreamName, string>

/**
 * The newest of up to `MATCHED_MAX` matches, and their number. The matches are read in the order of their index: without
 * an order, or with that of the rows, the planner may read the whole table where it expects many matches.
 */
function sorted(table: string, row: string, where: string, below: number): string {
  return `WITH found AS MATERIALIZED (SELECT ${row} AS alarm FROM wakeful.${table}
      WHERE ${where} AND ${row} < $${below}::bigint ORDER BY tenant, owner, ${row} LIMIT ${MATCHED_MAX + 1})
    SELECT DISTINCT alarm, (SELECT count(*) FROM found) FROM found ORDER BY alarm DESC LIMIT $${below + 1}::bigint`
}

/**
 * Ends with the transaction. With it, the matches come in the order of their index, up to the limit. Otherwise, where the
 * planner expects few, it reads all of them and sorts: for a tenant with far more than the average, half of the table.
 */
export const IN_INDEX_ORDER = "SELECT set_config('enable_sort', 'off', true)"

/** The streams of one owner, of all owners of a tenant, and of all tenants. */
export const STREAM_QUERIES = { owner: OWNER_QUERIES, tenant: TENANT_QUERIES, all: ALL_QUERIES } as const

/**
 * Live alarms by their next wake, after a position. Over all tenants, one LATERAL scan per shard: the shards are few, and
 * the index of due timers has the order that is wanted.
 */
export const UPCOMING_QUERIES = {
  owner: `SELECT alarm, wake_at, id FROM wakeful.timers WHERE wake_at IS NOT NULL AND tenant = $1 AND owner = $2
    AND (wake_at, id) > ($3::bigint, $4::bigint) ORDER BY wake_at, id LIMIT $5::bigint`,
  tenant: `SELECT alarm, wake_at, id FROM wakeful.timers WHERE wake_at IS NOT NULL AND tenant = $1
    AND (wake_at, id) > ($2::bigint, $3::bigint) ORDER BY wake_at, id LIMIT $4::bigint`,
  all: `SELECT t.alarm, t.wake_at, t.id FROM wakeful.shards s CROSS JOIN LATERAL (
      SELECT alarm, wake_at, id FROM wakeful.timers WHERE shard = s.shard AND wake_at IS NOT NULL
      AND (wake_at, id) > ($1::bigint, $2::bigint) ORDER BY wake_at, id LIMIT $3::bigint) t
    ORDER BY t.wake_at, t.id LIMIT $3::bigint`,
} as const
