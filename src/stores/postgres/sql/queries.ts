/**
 * Every statement, by name; queries.test.ts checks the plan of each. `wakeful.` is replaced by the store's schema. Many
 * rows are passed as one array per column, for `unnest`.
 */

import { LAST_SERIAL } from '../../../alarm/index.ts'
import { ALARM_COLUMNS, FAILURE_COLUMNS, TIMER_COLUMNS } from '../../index.ts'
import { ALARM_TYPES, addTalliesFrom, POSITION_COLUMNS, POSITION_TYPES, TALLIED } from './columns.ts'

const ALARM = ALARM_COLUMNS.join(', ')
const READ_ALARM = `a.seq, ${qualified('a', ALARM_COLUMNS)}`
const TIMER = TIMER_COLUMNS.join(', ')
const POSITION = POSITION_COLUMNS.join(', ')

/** The database's clock in whole milliseconds; tests pass the time as a parameter instead. */
const CLOCK = (bound: string) =>
  `coalesce(${bound}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`

export const clockNow = `SELECT ${CLOCK('$1')}`
/** In microseconds, to measure the clock's offset: rounding to half a millisecond is a sixth of the lateness allowed. */
export const clockNowUs = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

// Alarms

/** Alarms of another store, in its order. */
export const importAlarms = `INSERT INTO wakeful.alarms (${ALARM}) SELECT ${ALARM}
  FROM unnest(${parameters(1, ALARM_TYPES)}) WITH ORDINALITY AS n (${ALARM}, place) ORDER BY place RETURNING id, seq`

export const updateAlarms = `UPDATE wakeful.alarms SET ${ALARM_COLUMNS.map((column) => `${column} = n.${column}`).join(', ')}
  FROM unnest(${parameters(1, ['bigint', ...ALARM_TYPES])}) AS n (seq, ${ALARM}) WHERE alarms.seq = n.seq`

/**
 * Whole alarms, read in one statement: two statements could see half of an edit. Timers come as JSON, because a join would
 * repeat the payload for each one. Their ids are JSON strings, because numbers lose digits.
 */
export const snapshotsBySeq = `SELECT ${READ_ALARM}, o.alarm, o.status, o.started_at, o.last_fired_at, o.completed_at,
    o.duration_ms, o.result, o.last_error, o.failure_count, o.attempts, (
    SELECT json_agg(json_build_array(${qualified('t', TIMER_COLUMNS).replace('t.id', 't.id::text')}) ORDER BY t.id)
    FROM wakeful.timers t WHERE t.tenant = a.tenant AND t.owner = a.owner AND t.alarm = a.seq)
  FROM wakeful.alarms a LEFT JOIN wakeful.outcomes o ON o.alarm = a.seq WHERE a.seq = ANY($1::bigint[])`

/** What a list needs to choose its alarms, with their sizes, which PostgreSQL knows without reading the texts. */
export const summariesBySeq = `SELECT seq, coalesce(octet_length(payload), 0) + octet_length(message), label,
  CASE WHEN $2::int = 1 THEN message ELSE '' END, key, subject, correlation_id, conversation_id, created_at, target
  FROM wakeful.alarms WHERE seq = ANY($1::bigint[])`

/** Alarms with the number of their earlier occurrences that are still open; only recurring alarms can have any. */
export const alarmsToFire = `SELECT ${READ_ALARM}, CASE WHEN a.kind = 'once' THEN 0 ELSE (
    SELECT count(*) FROM wakeful.timers o WHERE o.tenant = a.tenant AND o.owner = a.owner AND o.alarm = a.seq
    AND o.generation = a.generation AND o.kind <> 'due') END
  FROM wakeful.alarms a WHERE a.seq = ANY($1::bigint[])`

export const alarmScopes = `SELECT seq, tenant, owner, target, kind FROM wakeful.alarms WHERE seq = ANY($1::bigint[])`

/** The rows of alarms by id, key or idempotency key. */
const NAMES = `unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS n (tenant, owner, name, place)`
/** Across owners too: a null stands for every tenant, or every owner. */
export const seqsOfIds = `SELECT n.place, a.seq FROM ${NAMES}
  JOIN wakeful.alarms a ON a.id = n.name
    AND a.tenant = coalesce(n.tenant, a.tenant) AND a.owner = coalesce(n.owner, a.owner)`
export const seqsOfKeys = seqsOf('a.key')
export const seqsOfIdempotencyKeys = seqsOf('a.idempotency_key')
/** An idempotency key that an upsert has replaced is kept as long as its alarm. */
export const seqsOfKeptKeys = `SELECT n.place, k.alarm FROM ${NAMES}
  JOIN wakeful.idempotency_keys k ON k.tenant = n.tenant AND k.owner = n.owner AND k.idempotency_key = n.name`

export const pendingSelection = `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2
  AND alarm > $3::bigint ORDER BY alarm LIMIT $4::bigint`
export const subjectSelection = `SELECT seq FROM wakeful.alarms WHERE subject IS NOT NULL
  AND tenant = $1 AND subject = $3 AND (owner, seq) > ($2, $4::bigint) AND (owner, seq) <= ($2, ${LAST_SERIAL})
  ORDER BY owner, seq LIMIT $5::bigint`
export const declaredSelection = `SELECT seq FROM wakeful.alarms WHERE declared_by IS NOT NULL
  AND tenant = $1 AND owner = $2 AND (declared_by, seq) > ($3, $4::bigint) AND (declared_by, seq) <= ($3, ${LAST_SERIAL})
  ORDER BY declared_by, seq LIMIT $5::bigint`

/** Alarms to compute again: those of a tenant that name calendars, or all that depend on a zone's wall clock. */
export const calendarSelection = `SELECT seq, seq FROM wakeful.alarms WHERE calendars IS NOT NULL
  AND (tenant, seq) > ($1, $2::bigint) AND (tenant, seq) <= ($1, ${LAST_SERIAL})
  ORDER BY tenant, seq LIMIT $3::bigint`
export const zonedSelection = `SELECT id, alarm FROM wakeful.timers WHERE id > $1::bigint AND zone_offset IS NOT NULL
  ORDER BY id LIMIT $2::bigint`

export const keepIdempotencyKeys = `INSERT INTO wakeful.idempotency_keys (tenant, owner, idempotency_key, alarm)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) ON CONFLICT DO NOTHING`

export const knownIds = 'SELECT id FROM wakeful.alarms WHERE id = ANY($1::text[])'

// Locks, always acquired in this order: shards, alarms, timers

/**
 * Locks out claims while an alarm near its instant is edited. Heartbeats and open settles pass. FOR SHARE would let new
 * sharers join before a waiting UPDATE: 64 callers that cancel then push 300 claims per second down to 1–9.
 */
export const lockShards = `SELECT shard FROM wakeful.shards WHERE shard = ANY($1::int[]) ORDER BY shard FOR NO KEY UPDATE`
/** The same without waiting. */
export const lockFreeShards = `${lockShards} SKIP LOCKED`
/** The shards in which a timer of these alarms wakes soon, by the database's clock. */
export const nearShards = `SELECT DISTINCT t.shard FROM wakeful.alarms a JOIN wakeful.timers t
    ON t.tenant = a.tenant AND t.owner = a.owner AND t.alarm = a.seq
  WHERE a.seq = ANY($1::bigint[]) AND t.wake_at <= ${CLOCK('$2')} + $3::bigint ORDER BY t.shard`
export const lockAlarms = `SELECT seq FROM wakeful.alarms WHERE seq = ANY($1::bigint[]) ORDER BY seq FOR NO KEY UPDATE`
export const lockTimersOfAlarms = `SELECT t.id FROM wakeful.alarms a JOIN wakeful.timers t
    ON t.tenant = a.tenant AND t.owner = a.owner AND t.alarm = a.seq
  WHERE a.seq = ANY($1::bigint[]) ORDER BY t.id FOR UPDATE OF t`
/** Leaves out the timers that an open transaction has locked. */
export const lockFreeTimers = `SELECT id FROM wakeful.timers WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED`

// Timers

export const insertTimers = `INSERT INTO wakeful.timers (alarm, tenant, owner, target, shard, ${POSITION}, version, edited)
  SELECT n.*, 1, 0 FROM unnest(${parameters(1, ['bigint', 'text', 'text', 'text', 'int', ...POSITION_TYPES])}) AS n`

const SET_POSITION = `${POSITION_COLUMNS.map((column) => `${column} = n.${column}`).join(', ')}, version = timers.version + 1, edited = 0, report = NULL`
const MOVES = `unnest(${parameters(1, ['bigint', ...POSITION_TYPES])}) AS n (id, ${POSITION})`
const CLAIMED_MOVES = `unnest(${parameters(1, ['bigint', 'bigint', ...POSITION_TYPES])}) AS n (id, claimed, ${POSITION})`

export const moveTimers = `UPDATE wakeful.timers SET ${SET_POSITION} FROM ${MOVES} WHERE timers.id = n.id`
/** A settle moves or removes a timer only at the version that was claimed (promise: recorded-once). */
export const moveClaimedTimers = `UPDATE wakeful.timers SET ${SET_POSITION} FROM ${CLAIMED_MOVES}
  WHERE timers.id = n.id AND timers.version = n.claimed AND timers.edited = 0 RETURNING timers.id, n.claimed`
export const removeClaimedTimers = `DELETE FROM wakeful.timers t USING unnest($1::bigint[], $2::bigint[]) AS n (id, claimed)
  WHERE t.id = n.id AND t.version = n.claimed AND t.edited = 0 RETURNING t.id, n.claimed`
export const removeTimers = 'DELETE FROM wakeful.timers WHERE id = ANY($1::bigint[])'
export const removeTimersOfAlarms = `DELETE FROM wakeful.timers t USING wakeful.alarms a
  WHERE a.seq = ANY($1::bigint[]) AND t.tenant = a.tenant AND t.owner = a.owner AND t.alarm = a.seq`
export const markTimersEdited = 'UPDATE wakeful.timers SET edited = 1 WHERE id = ANY($1::bigint[])'
export const storeEarlyReports = `UPDATE wakeful.timers SET report = n.report FROM unnest($1::bigint[], $2::text[]) AS n (id, report)
  WHERE timers.id = n.id`
/** A timer in flight stays with the shard that delivers it, and moves when it settles. */
export const retargetTimers = `UPDATE wakeful.timers SET target = n.target, shard = n.shard
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::int[]) AS n (tenant, owner, alarm, target, shard)
  WHERE timers.tenant = n.tenant AND timers.owner = n.owner AND timers.alarm = n.alarm AND timers.edited = 0`
export const timersById = `SELECT ${TIMER} FROM wakeful.timers WHERE id = ANY($1::bigint[])`

// The scan for due timers

/**
 * Starts at a position in the due index, behind the timers in flight. Without it, a scan walks over every row deleted since
 * the oldest open snapshot (12 ms after 90,000 fires, 0.3 ms with it). The position has the id because thousands of timers
 * may share an instant. One LATERAL scan per shard: `shard = ANY(64 shards)` sorts all of them (190 ms; with LATERAL 1.1 ms).
 */
const FROM_POSITION = 'wake_at >= s.low AND (wake_at, id) > (s.low, s.low_id)'

export const nextTimers = `SELECT t.shard, t.id, t.version, t.wake_at
  FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS s (shard, low, low_id)
  CROSS JOIN LATERAL (SELECT shard, id, version, wake_at FROM wakeful.timers
    WHERE shard = s.shard AND ${FROM_POSITION} ORDER BY wake_at, id LIMIT $4::bigint) t`

/** The first timer of every shard that this process still holds. A row per shard, also without timers: a missing one is lost. */
export const peekShards = `SELECT o.shard, t.id, t.version, t.wake_at
  FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[]) AS s (shard, epoch, low, low_id)
  JOIN wakeful.shards o ON o.shard = s.shard AND o.epoch = s.epoch AND o.holder = $5
  LEFT JOIN LATERAL (SELECT id, version, wake_at FROM wakeful.timers
    WHERE shard = s.shard AND ${FROM_POSITION} ORDER BY wake_at, id LIMIT 1) t ON true`

/**
 * Due timers, the most overdue of all shards first. Their alarms are read after the choice. The last column shows that a
 * transaction has locked the row, or once had: a claim must not overtake an uncommitted edit.
 */
export const dueTimers = `SELECT ${qualified('t', TIMER_COLUMNS)}, t.locked
  FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS s (shard, low, low_id)
  CROSS JOIN LATERAL (SELECT ${TIMER}, xmax::text AS locked FROM wakeful.timers
    WHERE shard = s.shard AND ${FROM_POSITION} AND wake_at <= $4::bigint ORDER BY wake_at, id LIMIT $5::bigint) t
  ORDER BY t.wake_at, t.id LIMIT $6::bigint`

/**
 * Proves ownership before a batch, and locks out edits until the batch is recorded. The scan is a separate statement: in one
 * statement, its snapshot would be older than the lock it waited for, and a cancel in between would be missed.
 */
export const lockOwnShards = `SELECT s.shard FROM wakeful.shards s JOIN unnest($1::int[], $2::bigint[]) AS l (shard, epoch)
    ON s.shard = l.shard AND s.epoch = l.epoch
  WHERE s.holder = $3 ORDER BY s.shard FOR NO KEY UPDATE OF s`
export const lockFreeOwnShards = `${lockOwnShards} SKIP LOCKED`
export const ownShards = `SELECT s.shard FROM wakeful.shards s JOIN unnest($1::int[], $2::bigint[]) AS l (shard, epoch)
    ON s.shard = l.shard AND s.epoch = l.epoch WHERE s.holder = $3`
/** The lock of a settle: a takeover waits for it; heartbeats, claims and cancels do not. */
export const shareShards = `SELECT s.shard, s.epoch FROM wakeful.shards s JOIN unnest($1::int[], $2::bigint[]) AS l (shard, epoch)
    ON s.shard = l.shard AND s.epoch = l.epoch ORDER BY s.shard FOR KEY SHARE OF s`

export const isOwn = 'SELECT 1 FROM wakeful.shards WHERE shard = $1::int AND epoch = $2::bigint'

export const insertInFlightBatches = `INSERT INTO wakeful.in_flight_batches (shard, epoch, claimed_at, timers)
  SELECT shard, epoch, $3::bigint, string_to_array(timers, ',')::bigint[]
  FROM unnest($1::int[], $2::bigint[], $4::text[]) AS n (shard, epoch, timers) RETURNING id, shard`
export const removeInFlightBatches = 'DELETE FROM wakeful.in_flight_batches WHERE id = ANY($1::bigint[])'
/** Batches that this process does not know, in shards that it holds and has locked: their claim was never answered. */
export const removeUnknownBatches = `DELETE FROM wakeful.in_flight_batches WHERE shard = ANY($1::int[]) AND id <> ALL($2::bigint[])`
export const inFlightBatchesOfShards = `SELECT id, array_to_string(timers, ',') FROM wakeful.in_flight_batches WHERE shard = ANY($1::int[])`

// Outcomes, events, figures

const OUTCOME = `alarm, tenant, owner, target, status, started_at, last_fired_at, completed_at, duration_ms, result,
  last_error, failure_count, attempts`
const OUTCOME_TYPES = [
  'bigint', 'text', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'bigint', 'text', 'text', 'bigint', 'bigint',
] as const // biome-ignore format: a list

export const putOutcomes = `INSERT INTO wakeful.outcomes AS o (${OUTCOME})
  SELECT * FROM unnest(${parameters(1, OUTCOME_TYPES)})
  ON CONFLICT (alarm) DO UPDATE SET target = excluded.target, status = excluded.status, started_at = excluded.started_at,
  last_fired_at = coalesce(excluded.last_fired_at, o.last_fired_at), completed_at = excluded.completed_at,
  duration_ms = excluded.duration_ms, result = excluded.result, last_error = excluded.last_error,
  failure_count = excluded.failure_count, attempts = excluded.attempts`

/** Ends alarms and leaves the rest of their summary as it is. */
export const putStatuses = `INSERT INTO wakeful.outcomes (alarm, tenant, owner, target, status, failure_count, attempts)
  SELECT n.*, 0, 0 FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS n
  ON CONFLICT (alarm) DO UPDATE SET target = excluded.target, status = excluded.status`

export const removeOutcomes = 'DELETE FROM wakeful.outcomes WHERE alarm = ANY($1::bigint[])'

/** The data are one text, joined by a character that JSON cannot contain: an array of quoted texts is slow to write and parse. */
export const insertEvents = `INSERT INTO wakeful.events (id, tenant, owner, type, origin, alarm, occurrence, subject,
    correlation_id, failure, at, data)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::bigint[], string_to_array($12, E'\\x01'))`
/** Found from the alarm's newest event backwards: what is restated failed a moment ago, or ended the alarm. */
export const restateFailures = `UPDATE wakeful.events e SET failure = n.new FROM (
    SELECT f.seq, r.new
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS r (alarm, old, new, occurrence)
    CROSS JOIN LATERAL (SELECT seq FROM wakeful.events WHERE alarm = r.alarm AND failure = r.old
      AND (r.occurrence IS NULL OR occurrence = r.occurrence) ORDER BY seq DESC LIMIT 1) f) n
  WHERE e.seq = n.seq`
/** Whether an occurrence has timed out, and whether it was the alarm's newest that did. */
export const timedOut = `SELECT (seq = (SELECT max(seq) FROM wakeful.events WHERE alarm = $1::bigint
    AND failure = 'timed_out'))::int FROM wakeful.events WHERE alarm = $1::bigint AND failure = 'timed_out' AND occurrence = $2
  ORDER BY seq DESC LIMIT 1`

/** Compared as a row, as in reads/list.ts. */
export const failuresOfOwner = `SELECT ${FAILURE_COLUMNS} FROM wakeful.events WHERE failure IS NOT NULL AND tenant = $1
  AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`
export const failuresOfTenant = `SELECT ${FAILURE_COLUMNS} FROM wakeful.events WHERE failure IS NOT NULL
  AND (tenant, seq) < ($1, $2::bigint) AND (tenant, seq) > ($1, 0) ORDER BY tenant DESC, seq DESC LIMIT $3::bigint`
export const failuresOfAll = `SELECT ${FAILURE_COLUMNS} FROM wakeful.events WHERE failure IS NOT NULL
  AND seq < $1::bigint ORDER BY seq DESC LIMIT $2::bigint`
export const appendEvent = `INSERT INTO wakeful.events (id, tenant, owner, type, origin, subject, correlation_id, at, data)
  VALUES ($1, $2, $3, $4, 'caught', $5, $6, $7::bigint, $8) RETURNING seq`

/** The next visible sequence numbers; a missing one is a gap. */
export const eventSeqs = `SELECT seq FROM wakeful.events WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint`
export const firstEventAfter =
  'SELECT seq, at FROM wakeful.events WHERE seq > $1::bigint ORDER BY seq LIMIT 1'
export const lastEvent = 'SELECT seq FROM wakeful.events WHERE seq <= $1::bigint ORDER BY seq DESC LIMIT 1'
/** The newest number that the sequence has produced, visible or not. */
export const newestSeq = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM wakeful.events_seq_seq`
/**
 * The transactions that may still commit events: those with a writer's lock on the log, in this database. Transaction ids
 * would not do: an open writer in another database would hide all events.
 */
export const logWriters = `SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation'
  AND relation = 'wakeful.events'::regclass AND mode = 'RowExclusiveLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid IS DISTINCT FROM pg_backend_pid()`

export const addTallies = addTalliesFrom(1)
const SUMS = TALLIED.map((column) => `coalesce(sum(${column}), 0)::bigint`).join(', ')
export const tallyOfOwner = `SELECT ${SUMS} FROM wakeful.tallies WHERE tenant = $1 AND owner = $2`
export const tallyOfTenant = `SELECT ${SUMS} FROM wakeful.tallies WHERE tenant = $1`
export const tallyOfAll = `SELECT ${SUMS} FROM wakeful.tallies`
/** Goes from one tenant to the next through the indexes, without reading the rows of each: there are many per tenant. */
export const tenantsWithTallies = `WITH RECURSIVE named (tenant) AS (
    SELECT $1::text
    UNION ALL SELECT next.tenant FROM named CROSS JOIN LATERAL (SELECT min(n.tenant) AS tenant FROM (
        SELECT min(tenant) AS tenant FROM wakeful.tallies WHERE tenant > named.tenant
        UNION ALL SELECT min(tenant) FROM wakeful.calendars WHERE tenant > named.tenant
        UNION ALL SELECT min(tenant) FROM wakeful.events WHERE tenant > named.tenant
        UNION ALL SELECT (SELECT min(tenant) FROM wakeful.documents WHERE kind = k.kind AND tenant > named.tenant)
          FROM unnest($2::text[]) AS k (kind)) n) next
      WHERE named.tenant IS NOT NULL)
  SELECT n.tenant, ${TALLIED.map((column) => `coalesce(sum(t.${column}), 0)::bigint`).join(', ')}
  FROM (SELECT tenant FROM named WHERE tenant <> '*' OFFSET 1 LIMIT $3::bigint) n
  LEFT JOIN wakeful.tallies t ON t.tenant = n.tenant GROUP BY n.tenant ORDER BY n.tenant`
export const pendingOfTenant =
  'SELECT coalesce(sum(pending), 0)::bigint FROM wakeful.tallies WHERE tenant = $1'

// Processes and shards

export const shardsOfPools =
  'SELECT pool, shard FROM wakeful.shards WHERE pool = ANY($1::text[]) ORDER BY pool, slot'
/** Only one transaction at a time makes pools, so that their count stays true until it commits. */
export const lockPools = `SELECT pg_advisory_xact_lock(7420004, hashtext('wakeful.shards'))::text`
export const poolCount = 'SELECT count(*) FROM wakeful.shards WHERE slot = 0'
export const insertShards = `INSERT INTO wakeful.shards (pool, slot, holder, epoch)
  SELECT pool, slot, NULL, 0 FROM unnest($1::text[]) AS pool, generate_series(0, $2::int - 1) AS slot
  ON CONFLICT (pool, slot) DO NOTHING`
export const allShards = `SELECT s.shard, s.pool, CASE WHEN o.lease_until > ${CLOCK('$1')} THEN s.holder END, s.epoch,
    CASE $2::int WHEN 0 THEN 0 ELSE (
      SELECT count(*) FROM (SELECT 1 FROM wakeful.timers t
        WHERE t.shard = s.shard AND t.wake_at <= $3::bigint LIMIT $4::int) counted) END,
    (SELECT wake_at FROM wakeful.timers t WHERE t.shard = s.shard AND t.wake_at IS NOT NULL ORDER BY wake_at LIMIT 1)
  FROM wakeful.shards s LEFT JOIN wakeful.processes o ON o.holder = s.holder
  WHERE $5::text[] IS NULL OR s.pool = ANY($5::text[]) ORDER BY s.shard`

/**
 * Renews this process's lease in its own row, and reads the clock, the other processes, the holder of each shard, and the
 * first wake of each of its own shards from a floor on. It waits for nothing but a takeover from this process. `takeovers`
 * and `heartbeats` start at random, so that a row that was deleted and made again is not mistaken for the old one.
 */
export const heartbeat = `WITH heartbeat AS (
    INSERT INTO wakeful.processes AS o (holder, pools, lease_until, heartbeats, takeovers)
    VALUES ($1, $2::text[], ${CLOCK('$4')} + $3::bigint, $5::bigint, $5::bigint)
    ON CONFLICT (holder) DO UPDATE SET pools = excluded.pools, heartbeats = o.heartbeats + 1, lease_until = ${CLOCK('$4')} + $3::bigint
    RETURNING takeovers)
  SELECT 'shard' AS kind, s.pool AS name, s.shard::bigint AS a, s.epoch AS b, s.holder, NULL::text[] AS pools
    FROM wakeful.shards s WHERE s.pool = ANY($2::text[])
  UNION ALL SELECT 'next', '', t.wake_at, s.shard, NULL, NULL FROM wakeful.shards s
    LEFT JOIN LATERAL (SELECT wake_at FROM wakeful.timers t WHERE t.shard = s.shard AND t.wake_at >= $6::bigint
      ORDER BY t.wake_at LIMIT 1) t ON true WHERE s.holder = $1 AND s.pool = ANY($2::text[])
  UNION ALL SELECT 'owner', o.holder, o.heartbeats, o.lease_until, NULL, o.pools FROM wakeful.processes o WHERE o.holder <> $1
  UNION ALL SELECT 'heartbeat', '', (SELECT takeovers FROM heartbeat), ${CLOCK('$4')}, NULL, NULL`

/** The shards of this process, by a statement that began after its heartbeat. */
export const shardsOfProcess = 'SELECT shard, epoch, pool FROM wakeful.shards WHERE holder = $1'

/** Checks that this process is still registered, and keeps it so until the commit: after a long stall its row may be deleted. */
export const lockProcess = 'SELECT 1 FROM wakeful.processes WHERE holder = $1 FOR KEY SHARE'

/** Marks dead processes by their `takeovers`. It locks their rows, so that a late heartbeat comes before or after it. */
export const markDeadProcesses = `UPDATE wakeful.processes o SET takeovers = o.takeovers + 1 FROM (
    SELECT holder FROM wakeful.processes WHERE holder <> $1 AND (lease_until <= ${CLOCK('$2')}
      OR (holder, heartbeats) IN (SELECT * FROM unnest($3::text[], $4::bigint[])))
    ORDER BY holder FOR UPDATE SKIP LOCKED) dead
  WHERE o.holder = dead.holder RETURNING o.holder`

/** Acquires free shards: without a holder, or of a dead one. Those locked by an open settle wait for the next heartbeat. */
export const acquireShards = `UPDATE wakeful.shards s SET holder = $1, epoch = s.epoch + 1 FROM (
    SELECT shard, epoch FROM wakeful.shards WHERE pool = $2 AND (holder IS NULL OR holder = ANY($3::text[]))
    ORDER BY slot LIMIT $4::bigint FOR UPDATE SKIP LOCKED) free
  WHERE s.shard = free.shard AND s.epoch = free.epoch RETURNING s.shard, s.epoch`

/** Releases only shards without timers in flight: the next holder would count those as attempts. */
export const releaseSomeShards = `UPDATE wakeful.shards s SET holder = NULL FROM (
    SELECT idle.shard FROM unnest($1::int[]) AS idle (shard)
    WHERE NOT EXISTS (SELECT 1 FROM wakeful.in_flight_batches f WHERE f.shard = idle.shard) LIMIT $2::bigint) idle
  WHERE s.shard = idle.shard RETURNING s.shard`
export const releaseShards = `UPDATE wakeful.shards s SET holder = NULL FROM unnest($1::int[], $2::bigint[]) AS l (shard, epoch)
  WHERE s.shard = l.shard AND s.epoch = l.epoch`
/** By their holder: the answer to an acquisition may have been lost, and the process does not know of those shards. */
export const releaseAllShards = 'UPDATE wakeful.shards SET holder = NULL WHERE holder = $1'
/** A process that has released all shards of a pool does not serve it until its next heartbeat, so that others get its share. */
export const leavePools = `UPDATE wakeful.processes o SET pools = ARRAY(SELECT served.pool FROM unnest(o.pools) AS served (pool)
    WHERE EXISTS (SELECT 1 FROM wakeful.shards s WHERE s.holder = o.holder AND s.pool = served.pool)) WHERE o.holder = $1`
/**
 * Ends the open handler transactions of dead processes: they can never commit, and a stopped process would keep its locks
 * for ever. Transactions that began after this takeover belong to live processes.
 */
export const endHandlers = `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a, pg_stat_activity own
  WHERE a.application_name = ANY($1::text[]) AND a.datname = current_database() AND a.usename = current_user
    AND own.pid = pg_backend_pid() AND a.xact_start < own.xact_start`
/** Deletes processes that hold no shard: dead ones, and those that have released all. */
export const deleteProcesses = `DELETE FROM wakeful.processes o WHERE o.holder = ANY($1::text[])
  AND NOT EXISTS (SELECT 1 FROM wakeful.shards s WHERE s.holder = o.holder)`

// Calendars: few rows, seldom written

/** Waits for every transaction that has read the calendars to decide by them. */
export const lockCalendars = 'LOCK TABLE wakeful.calendars IN ACCESS EXCLUSIVE MODE'
export const calendarVersions = 'SELECT tenant, name, version FROM wakeful.calendars'
export const calendarVersionsNamed = `SELECT c.tenant, c.name, c.version FROM unnest($1::text[], $2::text[]) AS n (tenant, name)
  JOIN wakeful.calendars c ON c.tenant = n.tenant AND c.name = n.name`
export const calendarsNamed = `SELECT c.tenant, c.name, c.version, c.dates, c.weekend
  FROM unnest($1::text[], $2::text[]) AS n (tenant, name)
  JOIN wakeful.calendars c ON c.tenant = n.tenant AND c.name = n.name`
/** One sequence of versions for all calendars: one that was removed and put again is not mistaken for the old one. */
export const nextCalendarVersion = `INSERT INTO wakeful.meta AS m (name, value) VALUES ('calendar_version', '1')
  ON CONFLICT (name) DO UPDATE SET value = (m.value::bigint + 1)::text RETURNING value`
export const putCalendar = `INSERT INTO wakeful.calendars (tenant, name, version, reviewed_version, dates, weekend, updated_at)
  VALUES ($1, $2, $5::bigint, $5::bigint, $3, $4, $6::bigint) ON CONFLICT (tenant, name) DO UPDATE
  SET version = excluded.version, dates = excluded.dates, weekend = excluded.weekend, updated_at = excluded.updated_at`
export const removeCalendar = 'DELETE FROM wakeful.calendars WHERE tenant = $1 AND name = $2'
export const liveAlarmNaming = `SELECT a.id FROM wakeful.alarms a WHERE a.tenant = $1 AND a.calendars IS NOT NULL
  AND a.calendars::jsonb ? $2 AND EXISTS (SELECT 1 FROM wakeful.timers t
    WHERE t.tenant = a.tenant AND t.owner = a.owner AND t.alarm = a.seq) LIMIT 1`
export const calendarsToRecompute =
  'SELECT tenant, name, version FROM wakeful.calendars WHERE reviewed_version < version'
export const markRecomputed = `UPDATE wakeful.calendars SET reviewed_version = greatest(reviewed_version, least(version, $1::bigint))
  WHERE tenant = $2 AND name = $3`

export const lastLogged = 'SELECT at FROM wakeful.events ORDER BY seq DESC LIMIT 1'
export const lastSet = 'SELECT created_at FROM wakeful.alarms ORDER BY seq DESC LIMIT 1'

export const notify = 'SELECT pg_notify($1, $2)'
export const meta = 'SELECT value FROM wakeful.meta WHERE name = $1'
/** Of all values whose name begins with this, the largest. */
export const newestMeta = 'SELECT max(value::bigint) FROM wakeful.meta WHERE starts_with(name, $1)'
export const putMeta = `INSERT INTO wakeful.meta (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

function seqsOf(name: string): string {
  return `SELECT n.place, a.seq FROM ${NAMES}
  JOIN wakeful.alarms a ON a.tenant = n.tenant AND a.owner = n.owner AND ${name} = n.name`
}

/** One array parameter per column, numbered from `from` on. */
function parameters(from: number, types: readonly string[]): string {
  return types.map((type, index) => `$${from + index}::${type}[]`).join(', ')
}

function qualified(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${table}.${column}`).join(', ')
}
