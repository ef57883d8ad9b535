/** The statements of the hot path. Each has an EXPLAIN QUERY PLAN test in queries.test.ts. */

import { ALARM_COLUMNS, FAILURE_COLUMNS, TIMER_COLUMNS } from '../../index.ts'

const ALARM = ALARM_COLUMNS.join(', ')
const ALARM_MARKS = ALARM_COLUMNS.map(() => '?').join(', ')
const READ_ALARM = `seq, ${ALARM}`
const TIMER = TIMER_COLUMNS.join(', ')

export const insertAlarm = `INSERT INTO wakeful_alarms (${ALARM})
  VALUES (${ALARM_MARKS})`

export const updateAlarm = `UPDATE wakeful_alarms SET (${ALARM})
  = (${ALARM_MARKS}) WHERE seq = ?`

export const alarmBySeq = `SELECT ${READ_ALARM} FROM wakeful_alarms WHERE seq = ?`
export const alarmSummary = `SELECT label, message, key, subject, correlation_id AS correlationId,
  conversation_id AS conversationId, created_at AS createdAt, target FROM wakeful_alarms WHERE seq = ?`
export const alarmScope = 'SELECT tenant, owner, target, kind FROM wakeful_alarms WHERE seq = ?'
/** Across owners too: a null stands for every tenant, or every owner. */
export const alarmById = `SELECT ${READ_ALARM} FROM wakeful_alarms
  WHERE id = ? AND tenant = coalesce(?, tenant) AND owner = coalesce(?, owner)`
export const alarmByKey = `SELECT ${READ_ALARM} FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND key = ?`
export const alarmByIdempotencyKey = `SELECT ${READ_ALARM} FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND idempotency_key = ?`

/** An ended alarm loses its key to an imported one. */
export const clearKey = 'UPDATE wakeful_alarms SET key = NULL WHERE seq = ?'

/** An idempotency key that an upsert replaced is kept as long as its alarm. */
export const insertReplacedIdempotencyKey = `INSERT INTO wakeful_idempotency_keys (tenant, owner, idempotency_key, alarm)
  VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
export const replacedIdempotencyKey = `SELECT alarm FROM wakeful_idempotency_keys
  WHERE tenant = ? AND owner = ? AND idempotency_key = ?`

export const insertTimer = `INSERT INTO wakeful_timers (alarm, tenant, owner, target, shard, kind, wake_at, scheduled_for,
  nominal, zone_offset, floor, tick, generation, attempt, started_at, waiting, delivered, version, edited)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0)`

export const moveTimer = `UPDATE wakeful_timers SET kind = ?, wake_at = ?, scheduled_for = ?, nominal = ?, zone_offset = ?,
  floor = ?, tick = ?, generation = ?, attempt = ?, started_at = ?, waiting = ?, delivered = ?, version = version + 1, edited = 0, report = NULL WHERE id = ?`

/** Moves a settled timer only if it is still as it was claimed (promise: recorded-once). */
export const moveClaimedTimer = `${moveTimer} AND version = ? AND edited = 0`

export const removeTimer = 'DELETE FROM wakeful_timers WHERE id = ?'
export const removeTimersOfAlarm = 'DELETE FROM wakeful_timers WHERE tenant = ? AND owner = ? AND alarm = ?'
export const removeClaimedTimer = 'DELETE FROM wakeful_timers WHERE id = ? AND version = ? AND edited = 0'
export const markTimerEdited = 'UPDATE wakeful_timers SET edited = 1 WHERE id = ?'
/** A timer in flight stays in the shard that delivers it, and moves when it settles. */
export const retargetTimers = `UPDATE wakeful_timers SET target = ?, shard = ?
  WHERE tenant = ? AND owner = ? AND alarm = ? AND edited = 0`
export const storeEarlyReport = 'UPDATE wakeful_timers SET report = ? WHERE id = ?'
export const timerById = `SELECT ${TIMER} FROM wakeful_timers WHERE id = ?`
export const timersOfAlarm = `SELECT ${TIMER} FROM wakeful_timers WHERE tenant = ? AND owner = ? AND alarm = ? ORDER BY id`

export const openTimersOfAlarm = `SELECT count(*) AS open FROM wakeful_timers
  WHERE tenant = ? AND owner = ? AND alarm = ? AND generation = ? AND kind <> 'due'`

/**
 * The scan for due timers. The index gives both order and limit, so that it costs the same with a million pending. The last
 * column says whether a recurring alarm has other timers: that takes 0.3 µs a row here, and 4 µs as a separate statement.
 */
const DUE = `SELECT ${qualified('t', TIMER_COLUMNS)}, a.seq, ${qualified('a', ALARM_COLUMNS)},
  CASE WHEN a.kind = 'once' THEN 0 ELSE EXISTS (SELECT 1 FROM wakeful_timers o
    WHERE o.tenant = t.tenant AND o.owner = t.owner AND o.alarm = t.alarm AND o.id <> t.id) END
  FROM wakeful_timers t LEFT JOIN wakeful_alarms a ON a.seq = t.alarm`

export const dueTimers = `${DUE} WHERE t.shard = ? AND t.wake_at <= ? ORDER BY t.wake_at LIMIT ?`

export const dueTimer = `${DUE} WHERE t.id = ?`

export const dueOfOwner = `${DUE} WHERE t.tenant = ? AND t.owner = ? AND t.wake_at IS NOT NULL AND t.wake_at <= ?
  AND +t.shard = ? ORDER BY t.wake_at LIMIT ?`

export const dueIds = `SELECT id, version FROM wakeful_timers WHERE shard = ? AND wake_at <= ? ORDER BY wake_at LIMIT ?`

export const nextTimers = `SELECT id, version, wake_at FROM wakeful_timers
  WHERE shard = ? AND wake_at IS NOT NULL ORDER BY wake_at LIMIT ?`

/** Read from the index alone, which skips a thousand rows in the time it takes to read fifty. */
export const nthWake = `SELECT wake_at FROM wakeful_timers
  WHERE shard = ? AND wake_at IS NOT NULL ORDER BY wake_at LIMIT 1 OFFSET ?`

export const requeueWithoutHandler = `UPDATE wakeful_timers SET wake_at = scheduled_for WHERE id IN (
  SELECT id FROM wakeful_timers INDEXED BY wakeful_timers_without_handler
  WHERE shard = ? AND target = ? AND waiting = 'handler' AND wake_at > ? LIMIT ?)`

/** The next handler name in a shard: skips all rows of the one before. */
export const nextMissingHandler = `SELECT target FROM wakeful_timers INDEXED BY wakeful_timers_without_handler
  WHERE shard = ? AND target > ? AND waiting = 'handler' ORDER BY target LIMIT 1`
/** The longer it waits, the later it is looked at again: the last few contain the oldest. Requeued ones have a handler by now. */
export const missingHandlerSince = `SELECT min(scheduled_for) AS since FROM (
  SELECT scheduled_for FROM wakeful_timers INDEXED BY wakeful_timers_without_handler
  WHERE shard = ? AND target = ? AND waiting = 'handler' AND wake_at > scheduled_for ORDER BY wake_at DESC LIMIT 10)`

/** The longest paused first. `waiting` is cleared, so that what was missed is handled as after downtime. */
export const requeuePausedTenant = `UPDATE wakeful_timers SET wake_at = scheduled_for, waiting = NULL WHERE id IN (
  SELECT id FROM wakeful_timers INDEXED BY wakeful_timers_paused_tenant
  WHERE shard = ? AND tenant = ? AND waiting = 'operator_pause' AND wake_at > ? ORDER BY scheduled_for LIMIT ?)`
export const requeuePausedTarget = `UPDATE wakeful_timers SET wake_at = scheduled_for, waiting = NULL WHERE id IN (
  SELECT id FROM wakeful_timers INDEXED BY wakeful_timers_paused_target
  WHERE shard = ? AND target = ? AND waiting = 'operator_pause' AND wake_at > ? ORDER BY scheduled_for LIMIT ?)`
/** The next target name: skips all rows of the one before. */
export const nextPausedTarget = `SELECT target FROM wakeful_timers INDEXED BY wakeful_timers_paused_target
  WHERE shard = ? AND target > ? AND waiting = 'operator_pause' ORDER BY target LIMIT 1`

export const putOutcome = `INSERT INTO wakeful_outcomes (alarm, tenant, owner, target, status, started_at, last_fired_at,
  completed_at, duration_ms, result, last_error, failure_count, attempts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (alarm) DO UPDATE SET target = excluded.target, status = excluded.status, started_at = excluded.started_at,
  last_fired_at = coalesce(excluded.last_fired_at, last_fired_at), completed_at = excluded.completed_at,
  duration_ms = excluded.duration_ms, result = excluded.result, last_error = excluded.last_error,
  failure_count = excluded.failure_count, attempts = excluded.attempts`

/** Ends an alarm whose outcome stays that of its last delivery. */
export const putStatus = `INSERT INTO wakeful_outcomes (alarm, tenant, owner, target, status, failure_count, attempts)
  VALUES (?, ?, ?, ?, ?, 0, 0) ON CONFLICT (alarm) DO UPDATE SET target = excluded.target, status = excluded.status`

export const removeOutcome = 'DELETE FROM wakeful_outcomes WHERE alarm = ?'
export const outcomeOfAlarm = `SELECT status, started_at, last_fired_at, completed_at, duration_ms, result, last_error,
  failure_count, attempts FROM wakeful_outcomes WHERE alarm = ?`

export const insertEvent = `INSERT INTO wakeful_events (id, tenant, owner, type, origin, alarm, occurrence, subject,
  correlation_id, failure, at, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export const restateFailure = `UPDATE wakeful_events SET failure = ? WHERE seq = (
  SELECT seq FROM wakeful_events INDEXED BY wakeful_events_alarm
  WHERE alarm = ? AND failure = ? AND occurrence IS coalesce(?, occurrence) ORDER BY seq DESC LIMIT 1)`
/** Whether an occurrence has timed out, and whether it was the alarm's newest that did. */
export const timedOut = `SELECT seq = (SELECT max(seq) FROM wakeful_events WHERE alarm = ?1 AND failure = 'timed_out')
  AS is_newest FROM wakeful_events WHERE alarm = ?1 AND failure = 'timed_out' AND occurrence = ?2 ORDER BY seq DESC LIMIT 1`

export const failuresOfOwner = `SELECT ${FAILURE_COLUMNS} FROM wakeful_events
  WHERE failure IS NOT NULL AND tenant = ? AND owner = ? AND seq < ? ORDER BY seq DESC LIMIT ?`
export const failuresOfTenant = `SELECT ${FAILURE_COLUMNS} FROM wakeful_events
  WHERE failure IS NOT NULL AND tenant = ? AND seq < ? ORDER BY seq DESC LIMIT ?`
export const failuresOfAll = `SELECT ${FAILURE_COLUMNS} FROM wakeful_events INDEXED BY wakeful_events_failures
  WHERE failure IS NOT NULL AND seq < ? ORDER BY seq DESC LIMIT ?`

export const appendedEventById = 'SELECT 1 FROM wakeful_events WHERE id = ? AND alarm IS NULL'
export const eventOfAlarmById = 'SELECT 1 FROM wakeful_events WHERE alarm = ? AND id = ?'
export const newestEventAt = 'SELECT at FROM wakeful_events ORDER BY seq DESC LIMIT 1'
export const newestAlarmAt = 'SELECT created_at AS at FROM wakeful_alarms ORDER BY seq DESC LIMIT 1'
export const firstEventAfter = 'SELECT seq, at FROM wakeful_events WHERE seq > ? ORDER BY seq LIMIT 1'
export const lastEvent = 'SELECT seq FROM wakeful_events ORDER BY seq DESC LIMIT 1'

/** Of all values whose name begins with this, the largest. */
export const newestMeta =
  'SELECT max(CAST(value AS INTEGER)) AS newest FROM wakeful_meta WHERE substr(name, 1, length(?1)) = ?1'

export const addTally = `INSERT INTO wakeful_tallies (tenant, owner, total, pending, fired, completed, failed, cancelled,
  timed_out, duration_ms_sum, duration_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (tenant, owner) DO UPDATE SET total = total + excluded.total, pending = pending + excluded.pending,
  fired = fired + excluded.fired, completed = completed + excluded.completed, failed = failed + excluded.failed,
  cancelled = cancelled + excluded.cancelled, timed_out = timed_out + excluded.timed_out,
  duration_ms_sum = duration_ms_sum + excluded.duration_ms_sum, duration_count = duration_count + excluded.duration_count`

const TALLIED = [
  'total', 'pending', 'fired', 'completed', 'failed', 'cancelled', 'timed_out', 'duration_ms_sum', 'duration_count',
] // biome-ignore format: a list
const SUMS = TALLIED.map((column) => `coalesce(sum(${column}), 0)`).join(', ')
export const tallyOfOwner = `SELECT ${SUMS} FROM wakeful_tallies WHERE tenant = ? AND owner = ?`
export const tallyOfTenant = `SELECT ${SUMS} FROM wakeful_tallies WHERE tenant = ?`
export const tallyOfAll = `SELECT ${SUMS} FROM wakeful_tallies`
/** Goes from one tenant to the next through the indexes, without reading the rows of each: there are many per tenant. */
export const tenantsWithTallies = `WITH RECURSIVE named (tenant) AS (
    SELECT ?1
    UNION ALL SELECT (SELECT min(tenant) FROM (
        SELECT min(tenant) AS tenant FROM wakeful_tallies WHERE tenant > named.tenant
        UNION ALL SELECT min(tenant) FROM wakeful_calendars WHERE tenant > named.tenant
        UNION ALL SELECT min(tenant) FROM wakeful_events WHERE tenant > named.tenant
        UNION ALL SELECT (SELECT min(tenant) FROM wakeful_documents WHERE kind = k.value AND tenant > named.tenant)
          FROM json_each(?2) k))
      FROM named WHERE named.tenant IS NOT NULL)
  SELECT n.tenant, ${TALLIED.map((column) => `coalesce(sum(t.${column}), 0)`).join(', ')}
  FROM (SELECT tenant FROM named WHERE tenant <> '*' LIMIT ?3 OFFSET 1) n
  LEFT JOIN wakeful_tallies t ON t.tenant = n.tenant GROUP BY n.tenant ORDER BY n.tenant`
export const pendingOfTenant = 'SELECT sum(pending) AS pending FROM wakeful_tallies WHERE tenant = ?'

export const shardOfPool = 'SELECT * FROM wakeful_shards WHERE pool = ? AND slot = 0'
export const insertShard = `INSERT INTO wakeful_shards (pool, slot, holder, epoch, file_locked) VALUES (?, 0, NULL, 0, 0)
  ON CONFLICT (pool, slot) DO NOTHING`
export const shardEpoch = 'SELECT epoch FROM wakeful_shards WHERE shard = ?'
export const claimShard = `UPDATE wakeful_shards SET holder = ?, epoch = epoch + 1, file_locked = ?
  WHERE shard = ? AND epoch = ? RETURNING epoch`
export const lockShard = 'UPDATE wakeful_shards SET file_locked = 1 WHERE shard = ? AND epoch = ?'
export const releaseShard = 'UPDATE wakeful_shards SET holder = NULL WHERE shard = ? AND epoch = ?'
export const poolCount = 'SELECT count(*) AS pools FROM wakeful_shards WHERE slot = 0'
export const allShards = 'SELECT * FROM wakeful_shards ORDER BY shard'
export const shardsOfPools = `SELECT * FROM wakeful_shards
  WHERE pool IN (SELECT value FROM json_each(?)) ORDER BY shard`
export const pendingOfShard =
  'SELECT count(*) AS pending FROM wakeful_timers WHERE shard = ? AND wake_at IS NOT NULL'
export const dueOfShard = `SELECT count(*) AS due FROM (
  SELECT 1 FROM wakeful_timers WHERE shard = ? AND wake_at <= ? LIMIT ?)`

export const insertInFlightBatch =
  'INSERT INTO wakeful_in_flight_batches (shard, epoch, claimed_at, timers) VALUES (?, ?, ?, ?)'
export const removeInFlightBatch = 'DELETE FROM wakeful_in_flight_batches WHERE id = ?'
export const inFlightBatches = 'SELECT id, shard, epoch, timers FROM wakeful_in_flight_batches'

/** Alarms to compute again: those of a tenant that name calendars, or all whose instants depend on a zone. */
export const calendarSelection = `SELECT seq AS position, seq AS alarm FROM wakeful_alarms
  WHERE tenant = ? AND calendars IS NOT NULL AND seq > ? ORDER BY seq LIMIT ?`
export const zonedSelection = `SELECT id AS position, alarm FROM wakeful_timers
  WHERE id > ? AND zone_offset IS NOT NULL ORDER BY id LIMIT ?`

export const pendingSelection = `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ?
  AND alarm > ? ORDER BY alarm LIMIT ?`
export const subjectSelection = `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND subject = ?
  AND seq > ? ORDER BY seq LIMIT ?`
export const declaredSelection = `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND declared_by = ?
  AND seq > ? ORDER BY seq LIMIT ?`

function qualified(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${table}.${column}`).join(', ')
}
