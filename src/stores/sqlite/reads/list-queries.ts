import { MATCHED_MAX, type StreamName } from '../../index.ts'

/** One owner's: tenant, owner, the stream's values, the row number, the limit. Each statement has an EXPLAIN test. */
const OWNER_QUERIES = {
  newest: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
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

/** The same over all owners of a tenant: the tenant, the stream's values, the row number, the limit. */
const TENANT_QUERIES = {
  newest: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  subject: sorted('alarms_subject', 'seq', 'tenant = ? AND subject = ?'),
  correlation: sorted(
    'alarms_correlation',
    'seq',
    'tenant = ? AND correlation_id = ? AND correlation_id <> id',
  ),
  ownCorrelation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND id = ? AND correlation_id = id
    AND seq < ? LIMIT ?`,
  conversation: sorted(
    'alarms_conversation',
    'seq',
    "tenant = ? AND conversation_id = ? AND conversation_id <> ''",
  ),
  label: sorted('alarms_label', 'seq', "tenant = ? AND label = ? AND label <> ''"),
  ended: sorted('outcomes_status', 'alarm', 'tenant = ? AND status = ?'),
  endedTarget: sorted('outcomes_target', 'alarm', 'tenant = ? AND target = ? AND status = ?'),
  live: sorted('timers_alarm', 'alarm', 'tenant = ?'),
  liveTarget: sorted('timers_target', 'alarm', 'tenant = ? AND target = ?'),
  awaiting: sorted('timers_report', 'alarm', "tenant = ? AND kind = 'report'"),
  paused: sorted('alarms_paused', 'seq', 'tenant = ? AND paused_at IS NOT NULL'),
} as const satisfies Record<StreamName, string>

/** The same over all tenants: the stream's values, the row number, the limit. */
const ALL_QUERIES = {
  newest: 'SELECT seq AS alarm FROM wakeful_alarms WHERE seq < ? ORDER BY seq DESC LIMIT ?',
  subject: sorted('alarms_subject', 'seq', 'subject = ?'),
  correlation: sorted('alarms_correlation', 'seq', 'correlation_id = ? AND correlation_id <> id'),
  ownCorrelation: `SELECT seq AS alarm FROM wakeful_alarms WHERE id = ? AND correlation_id = id AND seq < ? LIMIT ?`,
  conversation: sorted('alarms_conversation', 'seq', "conversation_id = ? AND conversation_id <> ''"),
  label: sorted('alarms_label', 'seq', "label = ? AND label <> ''"),
  ended: sorted('outcomes_status', 'alarm', 'status = ?'),
  endedTarget: sorted('outcomes_target', 'alarm', 'target = ? AND status = ?'),
  live: sorted('timers_alarm', 'alarm', 'true'),
  liveTarget: sorted('timers_target', 'alarm', 'target = ?'),
  awaiting: sorted('timers_report', 'alarm', "kind = 'report'"),
  paused: sorted('alarms_paused', 'seq', 'paused_at IS NOT NULL'),
} as const satisfies Record<StreamName, string>

/**
 * The newest of up to `MATCHED_MAX` matches, and their number. The matches are read in the order of their index, which is
 * named: SQLite may prefer to read all of a tenant's rows.
 */
function sorted(index: string, row: string, where: string): string {
  const [table] = index.split('_')
  return `WITH found AS MATERIALIZED (SELECT ${row} AS alarm FROM wakeful_${table} INDEXED BY wakeful_${index}
      WHERE ${where} AND ${row} < ? ORDER BY tenant, owner, ${row} LIMIT ${MATCHED_MAX + 1})
    SELECT DISTINCT alarm, (SELECT count(*) FROM found) FROM found ORDER BY alarm DESC LIMIT ?`
}

/** The streams of one owner, of all owners of a tenant, and of all tenants. */
export const STREAM_QUERIES = { owner: OWNER_QUERIES, tenant: TENANT_QUERIES, all: ALL_QUERIES } as const

/** Live alarms by their next wake, after a position. Over all tenants, the first of each shard are merged. */
export const UPCOMING_QUERIES = {
  owner: `SELECT alarm, wake_at, id FROM wakeful_timers WHERE tenant = ? AND owner = ?
    AND wake_at IS NOT NULL AND (wake_at, id) > (?, ?) ORDER BY wake_at, id LIMIT ?`,
  tenant: `SELECT alarm, wake_at, id FROM wakeful_timers WHERE tenant = ?
    AND wake_at IS NOT NULL AND (wake_at, id) > (?, ?) ORDER BY wake_at, id LIMIT ?`,
  all: `SELECT t.alarm, t.wake_at, t.id FROM wakeful_shards s JOIN wakeful_timers t ON t.id IN (
      SELECT id FROM wakeful_timers WHERE shard = s.shard AND wake_at IS NOT NULL AND (wake_at, id) > (?1, ?2)
      ORDER BY wake_at, id LIMIT ?3)
    ORDER BY t.wake_at, t.id LIMIT ?3`,
} as const
