import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import { FAIR_QUERIES } from './claims/index.ts'
import {
  DOCUMENT_QUERIES,
  EVENT_QUERIES,
  INBOX_QUERIES,
  LOG_QUERIES,
  STREAM_QUERIES,
  UPCOMING_QUERIES,
} from './reads/index.ts'
import { CALENDAR_QUERIES } from './rows/index.ts'
import { migrate } from './schema/index.ts'
import * as sql from './sql/index.ts'
import { EXPORT_QUERIES } from './transfer/index.ts'
import { PRUNE_QUERIES } from './writes/index.ts'

const db = new DatabaseSync(':memory:')

beforeAll(async () => {
  await migrate(db, ':memory:', 0)
})

function plan(statement: string): string {
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all() as { detail: string }[]
  return rows.map((row) => row.detail).join('\n')
}

/** Which index each statement must go through. `rowid` is the table itself, by its key. */
const EXPECTED: Readonly<Record<string, string>> = {
  updateAlarm: 'rowid',
  clearKey: 'rowid',
  alarmBySeq: 'rowid',
  alarmSummary: 'rowid',
  alarmScope: 'rowid',
  alarmById: 'sqlite_autoindex_wakeful_alarms_1',
  alarmByKey: 'wakeful_alarms_key',
  alarmByIdempotencyKey: 'wakeful_alarms_idempotency',
  moveTimer: 'rowid',
  moveClaimedTimer: 'rowid',
  removeTimer: 'rowid',
  removeClaimedTimer: 'rowid',
  removeTimersOfAlarm: 'wakeful_timers_alarm',
  markTimerEdited: 'rowid',
  retargetTimers: 'wakeful_timers_alarm',
  storeEarlyReport: 'rowid',
  timerById: 'rowid',
  timersOfAlarm: 'wakeful_timers_alarm',
  openTimersOfAlarm: 'wakeful_timers_alarm',
  dueTimers: 'wakeful_timers_due',
  dueTimer: 'rowid',
  dueOfOwner: 'wakeful_timers_upcoming',
  dueIds: 'wakeful_timers_due',
  nextTimers: 'wakeful_timers_due',
  nthWake: 'wakeful_timers_due',
  requeueWithoutHandler: 'wakeful_timers_without_handler',
  nextMissingHandler: 'wakeful_timers_without_handler',
  missingHandlerSince: 'wakeful_timers_without_handler',
  requeuePausedTenant: 'wakeful_timers_paused_tenant',
  requeuePausedTarget: 'wakeful_timers_paused_target',
  nextPausedTarget: 'wakeful_timers_paused_target',
  removeOutcome: 'rowid',
  outcomeOfAlarm: 'rowid',
  'events owner end': 'wakeful_events_owner',
  'events owner page': 'wakeful_events_owner',
  'events owner filtered': 'wakeful_events_owner',
  'events tenant end': 'wakeful_events_tenant',
  'events tenant page': 'wakeful_events_tenant',
  'events tenant filtered': 'wakeful_events_tenant',
  'events all end': 'rowid',
  'events all page': 'rowid',
  'events all filtered': 'rowid',
  'events alarm end': 'wakeful_events_alarm',
  'events alarm page': 'wakeful_events_alarm',
  'events alarm filtered': 'wakeful_events_alarm',
  firstEventAfter: 'rowid',
  'log everything': 'rowid',
  'log newestOfAlarm': 'wakeful_events_alarm',
  appendedEventById: 'wakeful_events_appended',
  eventOfAlarmById: 'wakeful_events_alarm',
  tallyOfTenant: 'PRIMARY KEY',
  tenantsWithTallies: 'wakeful_events_(?:owner|tenant)',
  tallyOfOwner: 'PRIMARY KEY',
  pendingOfTenant: 'PRIMARY KEY',
  replacedIdempotencyKey: 'PRIMARY KEY',
  shardOfPool: 'sqlite_autoindex_wakeful_shards_1',
  shardEpoch: 'rowid',
  claimShard: 'rowid',
  lockShard: 'rowid',
  releaseShard: 'rowid',
  pendingOfShard: 'wakeful_timers_due',
  dueOfShard: 'wakeful_timers_due',
  removeInFlightBatch: 'rowid',
  pendingSelection: 'wakeful_timers_alarm',
  subjectSelection: 'wakeful_alarms_subject',
  declaredSelection: 'wakeful_alarms_declared',
  calendarSelection: 'wakeful_alarms_calendars',
  zonedSelection: 'rowid',
  'calendar version': 'sqlite_autoindex_wakeful_calendars_1',
  'calendar named': 'sqlite_autoindex_wakeful_calendars_1',
  'calendar ofTenant': 'sqlite_autoindex_wakeful_calendars_1',
  'calendar remove': 'sqlite_autoindex_wakeful_calendars_1',
  'calendar markRecomputed': 'sqlite_autoindex_wakeful_calendars_1',
  'calendar unmarkRecomputed': 'sqlite_autoindex_wakeful_calendars_1',
  'calendar meta': 'PRIMARY KEY',
  'document named': 'PRIMARY KEY',
  'document list': 'PRIMARY KEY',
  'document listOfTenant': 'wakeful_documents_tenant',
  'document remove': 'PRIMARY KEY',
  'inbox known': 'sqlite_autoindex_wakeful_inbox_1',
  'inbox count': 'wakeful_inbox_oldest',
  'inbox available': 'wakeful_inbox_oldest',
  'inbox claim': 'rowid',
  'inbox remove': 'sqlite_autoindex_wakeful_inbox_1',
  'inbox prune': 'wakeful_inbox_arrived',
  'inbox all': 'rowid',
  'fair nextOwner': 'wakeful_timers_upcoming',
  'fair nextTenant': 'wakeful_timers_upcoming',
  'fair nextWake': 'wakeful_timers_upcoming',
  'fair newest': 'wakeful_timers_due',
  'fair upcoming': 'wakeful_timers_due',
  'owner stream newest': 'wakeful_alarms_owner',
  'owner stream subject': 'wakeful_alarms_subject',
  'owner stream correlation': 'wakeful_alarms_correlation',
  'owner stream conversation': 'wakeful_alarms_conversation',
  'owner stream label': 'wakeful_alarms_label',
  'owner stream ended': 'wakeful_outcomes_status',
  'owner stream endedTarget': 'wakeful_outcomes_target',
  'owner stream live': 'wakeful_timers_alarm',
  'owner stream liveTarget': 'wakeful_timers_target',
  'owner stream awaiting': 'wakeful_timers_report',
  'owner stream paused': 'wakeful_alarms_paused',
  'owner stream ownCorrelation': 'sqlite_autoindex_wakeful_alarms_1',
  'tenant stream newest': 'wakeful_alarms_tenant',
  'tenant stream subject': 'wakeful_alarms_subject',
  'tenant stream correlation': 'wakeful_alarms_correlation',
  'tenant stream conversation': 'wakeful_alarms_conversation',
  'tenant stream label': 'wakeful_alarms_label',
  'tenant stream ended': 'wakeful_outcomes_status',
  'tenant stream endedTarget': 'wakeful_outcomes_target',
  'tenant stream live': 'wakeful_timers_alarm',
  'tenant stream liveTarget': 'wakeful_timers_target',
  'tenant stream awaiting': 'wakeful_timers_report',
  'tenant stream paused': 'wakeful_alarms_paused',
  'tenant stream ownCorrelation': 'sqlite_autoindex_wakeful_alarms_1',
  'all stream newest': 'rowid',
  'all stream subject': 'wakeful_alarms_subject',
  'all stream correlation': 'wakeful_alarms_correlation',
  'all stream conversation': 'wakeful_alarms_conversation',
  'all stream label': 'wakeful_alarms_label',
  'all stream ended': 'wakeful_outcomes_status',
  'all stream endedTarget': 'wakeful_outcomes_target',
  'all stream live': 'wakeful_timers_alarm',
  'all stream liveTarget': 'wakeful_timers_target',
  'all stream awaiting': 'wakeful_timers_report',
  'all stream paused': 'wakeful_alarms_paused',
  'all stream ownCorrelation': 'sqlite_autoindex_wakeful_alarms_1',
  'owner upcoming': 'wakeful_timers_upcoming',
  'tenant upcoming': 'wakeful_timers_upcoming_of_tenant',
  'all upcoming': 'wakeful_timers_due',
  'prune oldEvents': 'rowid',
  failuresOfOwner: 'wakeful_events_failures_owner',
  failuresOfTenant: 'wakeful_events_failures_tenant',
  failuresOfAll: 'wakeful_events_failures',
  restateFailure: 'wakeful_events_alarm',
  timedOut: 'wakeful_events_timed_out',
  'prune newestEvent': 'wakeful_events_alarm',
  'prune newestNotKept': 'wakeful_events_alarm',
  'prune removeEvents': 'wakeful_events_alarm',
  'export formerKeys': 'wakeful_idempotency_keys_alarm',
  'export alarms': 'rowid',
}

/** Inserts have no plan, and these read whole tables that hold a handful of rows, or are asked for by hand. */
const EXEMPT: Readonly<Record<string, string>> = {
  insertAlarm: 'an insert',
  insertTimer: 'an insert',
  insertEvent: 'an insert',
  insertShard: 'an insert',
  insertInFlightBatch: 'an insert',
  putOutcome: 'an insert',
  putStatus: 'an insert',
  insertReplacedIdempotencyKey: 'an insert',
  addTally: 'an insert',
  allShards: 'a row per pool',
  poolCount: 'a row per pool',
  shardsOfPools: 'a row per pool',
  inFlightBatches: 'a row per batch in flight',
  lastEvent: 'the last row of the table',
  newestEventAt: 'the last row of the table',
  newestAlarmAt: 'the last row of the table',
  tallyOfAll: 'a row per owner, which operators read',
  newestMeta: 'a row per owner whose events were deleted, when a reader of all of them resumes',
  'calendar put': 'an insert',
  'calendar putMeta': 'an insert',
  'calendar toRecompute': 'a handful of rows, once at the start',
  'calendar all': 'an export reads everything',
  'document put': 'an insert',
  'document all': 'an export reads everything',
  'inbox put': 'an insert',
  'inbox countAll': 'a bounded part of the table, for the metrics',
  'export countAlarms': 'an export reads everything',
  'export countEvents': 'an export reads everything',
}

function prefixed(prefix: string, queries: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(queries).map(([name, text]) => [`${prefix} ${name}`, text])
}

const BREADTHS = ['owner', 'tenant', 'all'] as const

const STATEMENTS: readonly [string, string][] = [
  ...Object.entries(sql as Readonly<Record<string, string>>),
  ...BREADTHS.flatMap((breadth) => prefixed(`${breadth} stream`, STREAM_QUERIES[breadth])),
  ...prefixed('prune', PRUNE_QUERIES),
  ...prefixed('fair', FAIR_QUERIES),
  ...prefixed('log', LOG_QUERIES),
  ...Object.entries(EVENT_QUERIES).flatMap(([source, queries]) => prefixed(`events ${source}`, queries)),
  ...prefixed('calendar', CALENDAR_QUERIES),
  ...prefixed('document', DOCUMENT_QUERIES),
  ...prefixed('inbox', INBOX_QUERIES),
  ...prefixed('export', EXPORT_QUERIES),
  ...BREADTHS.map((breadth): [string, string] => [`${breadth} upcoming`, UPCOMING_QUERIES[breadth]]),
]

/** These sort what they found by their indexes. */
const MAY_SORT = new Set(['all upcoming', 'tenantsWithTallies'])

/** Whether it sorts no more than `MATCHED_MAX` rows, which it reads in the order of an index. */
function isBounded(statement: string): boolean {
  return statement.startsWith('WITH found AS MATERIALIZED')
}

describe('the plan of every statement', () => {
  for (const [name, statement] of STATEMENTS) {
    if (name in EXEMPT) continue
    it(`${name} goes through its index, scans nothing and sorts nothing`, () => {
      const text = plan(statement)
      expect(EXPECTED, `add ${name} to EXPECTED`).toHaveProperty([name])
      if (isBounded(statement))
        expect(text).not.toMatch(/^SCAN (?!found|wakeful_\w+ USING (?:COVERING )?INDEX)/m)
      else if (!MAY_SORT.has(name)) {
        expect(text).not.toMatch(/^SCAN (?!\(subquery|json_each)/m)
        expect(text).not.toContain('TEMP B-TREE')
      }
      expect(text).not.toContain('AUTOMATIC')
      const index = EXPECTED[name]!
      expect(text).toMatch(index === 'rowid' ? /USING INTEGER PRIMARY KEY/ : new RegExp(`\\b${index}\\b`))
    })
  }

  it('is known for every statement', () => {
    const names = STATEMENTS.map(([name]) => name)
    for (const name of [...Object.keys(EXPECTED), ...Object.keys(EXEMPT)]) expect(names).toContain(name)
  })
})
