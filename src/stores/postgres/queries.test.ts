import { beforeAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../../../test/postgres/database.ts'
import { FAIR_QUERIES, WAITING_QUERIES } from './claims/index.ts'
import { migratePostgres } from './index.ts'
import {
  DOCUMENT_QUERIES,
  EVENT_QUERIES,
  IN_INDEX_ORDER,
  INBOX_QUERIES,
  LOG_QUERIES,
  PRUNE_QUERIES,
  STREAM_QUERIES,
  UPCOMING_QUERIES,
} from './reads/index.ts'
import * as sql from './sql/index.ts'
import { EXPORT_QUERIES, IMPORT_QUERIES } from './transfer/index.ts'

const { url, client } = testDatabase()
const ROWS = 30_000

/** Enough of everything that a plan which reads a whole table is never the cheapest. */
const FILL = `
  INSERT INTO wakeful.shards (pool, slot, holder, epoch)
    SELECT 'app', slot, 'one', 1 FROM generate_series(0, 63) AS slot;
  INSERT INTO wakeful.alarms (id, tenant, owner, generation, kind, timezone, fire_at, label, target_kind, target, pool,
      message, conversation_id, key, idempotency_key, subject, correlation_id, max_failures, backoff_base_ms,
      backoff_cap_ms, ack, completion_timeout_ms, overlap, priority, created_via, created_at, updated_at,
      registered_at, paused_at)
    SELECT 'id' || n, 't' || n % 10, '', 1, 'once', 'UTC', 1e12 + n, 'l' || n % 100, 'handler', 'x' || n % 5, 'app', '',
      'c' || n, 'k' || n, 'i' || n, 's' || n % 1000, 'r' || n, 5, 1, 1, 'delivery', 1, 'skip', 0, 'library', 0, 0,
      0, CASE WHEN n % 500 = 0 THEN 1 END
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.timers (alarm, tenant, owner, target, shard, kind, wake_at, scheduled_for, tick, generation,
      attempt, waiting, delivered, version, edited)
    SELECT n, 't' || n % 10, '', 'x' || n % 5, 1 + n % 64, CASE WHEN n % 50 = 0 THEN 'report' ELSE 'due' END, 1e12 + n,
      1e12 + n, 1, 1, 0, CASE WHEN n % 60 = 0 THEN 'handler' END, 0, 1, 0
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.outcomes (alarm, tenant, owner, target, status, failure_count, attempts)
    SELECT n, 't' || n % 10, '', 'x' || n % 5, CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'fired' END, 0, 1
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.events (id, tenant, owner, type, origin, alarm, failure, at, data)
    SELECT 'e' || n, 't' || n % 10, '', 'alarm.fired', 'caused', CASE WHEN n % 9 > 0 THEN n / 2 END,
      CASE WHEN n % 99 = 1 THEN 'failed' END, n, '{}'
    FROM generate_series(1, ${2 * ROWS}) AS n;
  INSERT INTO wakeful.idempotency_keys SELECT 't' || n % 10, '', 'o' || n, n FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.tallies SELECT 't' || n, '', 0, 1, 1, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.documents SELECT 'k' || n % 3, 'n' || n, 't' || n % 100, '{}', n, 0 FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.inbox (tenant, owner, occurrence, alarm, arrived_at, body, tries, claimed_until)
    SELECT 't' || n % 10, 'o' || n % 100, 'c' || n, 'a' || n, n, '{}', 0, 0 FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO wakeful.calendars SELECT 't' || n % 10, 'c' || n, 1, 1, '{}', '[]', 0 FROM generate_series(1, ${ROWS}) AS n;
  UPDATE wakeful.alarms SET calendars = '["c1"]' WHERE seq % 100 = 0;
  UPDATE wakeful.timers SET zone_offset = 0 WHERE id % 2 = 0;
  UPDATE wakeful.timers SET waiting = 'operator_pause' WHERE id % 70 = 0;
  INSERT INTO wakeful.in_flight_batches (shard, epoch, claimed_at, timers)
    SELECT 1 + n % 64, 1, 0, ARRAY[n, 1] FROM generate_series(1, 2000) AS n;
  ANALYZE`

beforeAll(async () => {
  await migratePostgres(url, 0)
  await client.query(FILL)
  // The plan that is made once for all values: it is what a prepared statement comes to.
  await client.query('SET plan_cache_mode = force_generic_plan')
})

let prepared = 0

async function plan(statement: string): Promise<string> {
  prepared += 1
  const name = `s${prepared}`
  await client.query(`PREPARE ${name} AS ${statement}`)
  const { rows } = await client.query<{ n: number }>(
    'SELECT cardinality(parameter_types) AS n FROM pg_prepared_statements WHERE name = $1',
    [name],
  )
  const nulls = Array<string>(rows[0]!.n).fill('NULL').join(', ')
  await client.query('BEGIN')
  if (isBounded(statement)) await client.query(IN_INDEX_ORDER)
  const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (COSTS OFF) EXECUTE ${name}${nulls === '' ? '' : `(${nulls})`}`,
  )
  await client.query('ROLLBACK')
  return lines.map((line) => line['QUERY PLAN']).join('\n')
}

/** Which index each statement must go through. */
const EXPECTED: Readonly<Record<string, string>> = {
  updateAlarms: 'alarms_pkey',
  snapshotsBySeq: 'alarms_pkey[^]*outcomes_pkey[^]*timers_alarm',
  summariesBySeq: 'alarms_pkey',
  alarmsToFire: 'timers_alarm',
  alarmScopes: 'alarms_pkey',
  seqsOfIds: 'alarms_id_key',
  seqsOfKeys: 'alarms_key',
  seqsOfIdempotencyKeys: 'alarms_idempotency',
  seqsOfKeptKeys: 'idempotency_keys_pkey',
  knownIds: 'alarms_id_key',
  pendingSelection: 'timers_alarm',
  subjectSelection: 'alarms_subject',
  declaredSelection: 'alarms_declared',
  calendarSelection: 'alarms_calendars',
  zonedSelection: 'timers_pkey',
  calendarVersionsNamed: 'calendars_pkey',
  calendarsNamed: 'calendars_pkey',
  removeCalendar: 'calendars_pkey',
  markRecomputed: 'calendars_pkey',
  liveAlarmNaming: 'alarms_calendars',
  lastLogged: 'events_pkey',
  lastSet: 'alarms_pkey',
  nearShards: 'timers_alarm',
  lockAlarms: 'alarms_pkey',
  lockTimersOfAlarms: 'timers_alarm',
  lockFreeTimers: 'timers_pkey',
  moveTimers: 'timers_pkey',
  moveClaimedTimers: 'timers_pkey',
  removeClaimedTimers: 'timers_pkey',
  removeTimers: 'timers_pkey',
  removeTimersOfAlarms: 'timers_alarm',
  markTimersEdited: 'timers_pkey',
  storeEarlyReports: 'timers_pkey',
  retargetTimers: 'timers_alarm',
  timersById: 'timers_pkey',
  'waiting releaseUnhandled': 'timers_without_handler',
  'waiting releaseTenant': 'timers_paused_tenant',
  'waiting releaseTarget': 'timers_paused_target',
  'waiting targets': 'timers_paused_target',
  'waiting missing': 'timers_without_handler',
  nextTimers: 'timers_due',
  peekShards: 'timers_due',
  dueTimers: 'timers_due',
  removeInFlightBatches: 'in_flight_batches_pkey',
  removeUnknownBatches: 'in_flight_batches_shard',
  inFlightBatchesOfShards: 'in_flight_batches_shard',
  removeOutcomes: 'outcomes_pkey',
  'events owner end': 'events_owner',
  'events owner page': 'events_owner',
  'events owner filtered': 'events_owner',
  'events tenant end': 'events_tenant',
  'events tenant page': 'events_tenant',
  'events tenant filtered': 'events_tenant',
  'events all end': 'events_pkey',
  'events all page': 'events_pkey',
  'events all filtered': 'events_pkey',
  'events alarm end': 'events_alarm',
  'events alarm page': 'events_alarm',
  'events alarm filtered': 'events_alarm',
  firstEventAfter: 'events_pkey',
  'log everything': 'events_pkey',
  'export alarms': 'alarms_pkey',
  'export formerKeys': 'idempotency_keys_alarm',
  'import knownAlarms': 'alarms_id_key',
  'import alarmIds': 'alarms_pkey',
  'import releaseKeys': 'alarms_pkey',
  'import knownOwnEvents': 'events_appended',
  'import knownEvents': 'events_alarm',
  'log newestOfAlarm': 'events_alarm',
  eventSeqs: 'events_pkey',
  lastEvent: 'events_pkey',
  tallyOfTenant: 'tallies_pkey',
  tenantsWithTallies:
    'tallies_pkey[^]*calendars_pkey[^]*events_(?:owner|tenant)[^]*documents_tenant[^]*tallies_pkey',
  tallyOfOwner: 'tallies_pkey',
  pendingOfTenant: 'tallies_pkey',
  heartbeat: 'timers_due',
  allShards: 'timers_due',
  'document named': 'documents_pkey',
  'document list': 'documents_pkey',
  'document listOfTenant': 'documents_tenant',
  'document replace': 'documents_pkey',
  'document remove': 'documents_pkey',
  'inbox known': 'inbox_tenant_owner_occurrence_key',
  'inbox put': 'inbox_(oldest|tenant_owner_occurrence_key)',
  'inbox claim': 'inbox_oldest',
  'inbox remove': 'inbox_tenant_owner_occurrence_key',
  'inbox prune': 'inbox_arrived',
  'inbox all': 'inbox_pkey',
  'fair pending': 'timers_upcoming',
  'fair nearest': 'timers_due',
  'fair found': 'timers_pkey',
  'owner stream newest': 'alarms_owner',
  'owner stream subject': 'alarms_subject',
  'owner stream correlation': 'alarms_correlation',
  'owner stream conversation': 'alarms_conversation',
  'owner stream label': 'alarms_label',
  'owner stream ended': 'outcomes_status',
  'owner stream endedTarget': 'outcomes_target',
  'owner stream live': 'timers_alarm',
  'owner stream liveTarget': 'timers_target',
  'owner stream awaiting': 'timers_report',
  'owner stream paused': 'alarms_paused',
  'owner stream ownCorrelation': 'alarms_id_key',
  'tenant stream newest': 'alarms_tenant',
  'tenant stream subject': 'alarms_subject',
  'tenant stream correlation': 'alarms_correlation',
  'tenant stream conversation': 'alarms_conversation',
  'tenant stream label': 'alarms_label',
  'tenant stream ended': 'outcomes_status',
  'tenant stream endedTarget': 'outcomes_target',
  'tenant stream live': 'timers_alarm',
  'tenant stream liveTarget': 'timers_target',
  'tenant stream awaiting': 'timers_report',
  'tenant stream paused': 'alarms_paused',
  'tenant stream ownCorrelation': 'alarms_id_key',
  'all stream newest': 'alarms_pkey',
  'all stream subject': 'alarms_subject',
  'all stream correlation': 'alarms_correlation',
  'all stream conversation': 'alarms_conversation',
  'all stream label': 'alarms_label',
  'all stream ended': 'outcomes_status',
  'all stream endedTarget': 'outcomes_target',
  'all stream live': 'timers_alarm',
  'all stream liveTarget': 'timers_target',
  'all stream awaiting': 'timers_report',
  'all stream paused': 'alarms_paused',
  'all stream ownCorrelation': 'alarms_id_key',
  'owner upcoming': 'timers_upcoming',
  'tenant upcoming': 'timers_upcoming_of_tenant',
  'all upcoming': 'timers_due',
  'prune oldEvents': 'events_pkey',
  failuresOfOwner: 'events_failures_owner',
  failuresOfTenant: 'events_failures_tenant',
  failuresOfAll: 'events_failures',
  restateFailures: 'events_alarm',
  timedOut: 'events_timed_out',
  'import recurring': 'alarms_pkey',
  'prune metAlarms': 'events_alarm',
  'prune lockAlarms': 'alarms_pkey',
  'prune ended': 'outcomes_pkey',
  'prune removeOldEvents': 'events_alarm',
  'prune removeEvents': 'events_alarm',
  'prune removeOutcomes': 'outcomes_pkey',
  'prune removeKeys': 'idempotency_keys_alarm',
  'prune removeAlarms': 'alarms_pkey',
}

/** Inserts have no plan, and these read tables that hold a handful of rows, or none of Wakeful's. */
const EXEMPT: Readonly<Record<string, string>> = {
  'inbox waiting': 'so many of the whole table, for the metrics',
  clockNow: 'reads no table',
  clockNowUs: 'reads no table',
  endHandlers: 'reads none of Wakeful’s tables',
  lockCalendars: 'reads no table',
  calendarVersions: 'all there are, when one was edited',
  calendarsToRecompute: 'a handful of rows, once at the start',
  putCalendar: 'an insert',
  nextCalendarVersion: 'an insert',
  insertAlarms: 'an insert',
  insertAlarmsAndTallies: 'an insert',
  importAlarms: 'an insert',
  'export countAlarms': 'an export reads everything',
  'export countEvents': 'an export reads everything',
  'export calendars': 'an export reads everything',
  'document put': 'an insert',
  'document create': 'an insert',
  'document all': 'an export reads everything',
  'inbox import': 'an insert',
  'import lock': 'reads no table',
  'import unmarkRecomputed': 'few rows, when alarms that name calendars move in',
  insertTimers: 'an insert',
  insertEvents: 'an insert',
  appendEvent: 'an insert',
  insertShards: 'an insert',
  insertInFlightBatches: 'an insert',
  keepIdempotencyKeys: 'an insert',
  putOutcomes: 'an insert',
  putStatuses: 'an insert',
  addTallies: 'an insert',
  putMeta: 'an insert',
  meta: 'a handful of rows',
  newestMeta: 'a row per owner whose events were deleted, when a reader of all of them resumes',
  newestSeq: 'a sequence',
  logWriters: 'the server’s locks',
  notify: 'reads no table',
  lockShards: 'some rows per pool',
  lockFreeShards: 'some rows per pool',
  lockOwnShards: 'some rows per pool',
  lockFreeOwnShards: 'some rows per pool',
  ownShards: 'some rows per pool',
  shareShards: 'some rows per pool',
  isOwn: 'some rows per pool',
  shardsOfPools: 'some rows per pool',
  poolCount: 'some rows per pool',
  lockPools: 'reads no table',
  shardsOfProcess: 'some rows per pool',
  lockProcess: 'a row per process',
  markDeadProcesses: 'a row per process',
  acquireShards: 'some rows per pool',
  releaseSomeShards: 'some rows per pool',
  releaseShards: 'some rows per pool',
  releaseAllShards: 'some rows per pool',
  leavePools: 'a row per process',
  deleteProcesses: 'a row per process',
  tallyOfAll: 'a few rows per owner, which operators read',
  'prune lock': 'reads no table',
  'prune foldTallies': 'once a minute, in the background',
}

function prefixed(prefix: string, queries: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(queries).map(([name, text]) => [`${prefix} ${name}`, text])
}

const BREADTHS = ['owner', 'tenant', 'all'] as const

const STATEMENTS: readonly [string, string][] = [
  ...Object.entries(sql).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  ...BREADTHS.flatMap((breadth) => prefixed(`${breadth} stream`, STREAM_QUERIES[breadth])),
  ...prefixed('fair', FAIR_QUERIES),
  ...prefixed('waiting', WAITING_QUERIES),
  ...prefixed('prune', PRUNE_QUERIES),
  ...prefixed('document', DOCUMENT_QUERIES),
  ...prefixed('inbox', INBOX_QUERIES),
  ...prefixed('export', EXPORT_QUERIES),
  ...prefixed('import', IMPORT_QUERIES),
  ...Object.entries(EVENT_QUERIES).flatMap(([source, each]) => prefixed(`events ${source}`, { ...each })),
  ...prefixed('log', LOG_QUERIES),
  ...BREADTHS.map((breadth): [string, string] => [`${breadth} upcoming`, UPCOMING_QUERIES[breadth]]),
]
/** Tables that are small enough to be read whole. */
const SMALL = 'shards|processes|in_flight_batches|meta'
/** A sort of what was found by an index is one of a handful: locks are taken in order. Any other would be of the table. */
const MAY_SORT = new Set([
  'all upcoming', 'tenantsWithTallies',
  'dueTimers', 'waiting releaseTenant', 'waiting releaseTarget', 'lockAlarms', 'lockTimersOfAlarms', 'lockFreeTimers', 'nearShards', 'allShards', 'prune lockAlarms',
  'prune removeEvents', 'prune removeOldEvents', 'waiting missing',
]) // biome-ignore format: a list

/** Whether it sorts no more than `MATCHED_MAX` rows, which it reads in the order of an index. */
function isBounded(statement: string): boolean {
  return statement.startsWith('WITH found AS MATERIALIZED')
}

describe('the plan of every statement', () => {
  for (const [name, statement] of STATEMENTS) {
    if (name in EXEMPT) continue
    it(`${name} goes through its index, scans nothing and sorts nothing`, async () => {
      const text = await plan(statement)
      expect(EXPECTED, `add ${name} to EXPECTED`).toHaveProperty([name])
      expect(text).toMatch(new RegExp(`\\b${EXPECTED[name]}\\b`))
      const scans = [...text.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table!)
      expect(scans.filter((table) => !new RegExp(`^(?:${SMALL})$`).test(table))).toEqual([])
      if (isBounded(statement)) expect(text).toMatch(/CTE found\n +-> +Limit\n +-> +Index (?:Only )?Scan/)
      else if (!MAY_SORT.has(name)) expect(text).not.toMatch(/\bSort\b/)
    })
  }

  it('is known for every statement', () => {
    const names = STATEMENTS.map(([name]) => name)
    for (const name of [...Object.keys(EXPECTED), ...Object.keys(EXEMPT)]) expect(names).toContain(name)
    for (const name of names) expect({ ...EXPECTED, ...EXEMPT }).toHaveProperty([name])
  })
})
