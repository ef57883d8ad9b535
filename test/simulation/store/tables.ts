import type { Outcome, Scope, Serial, Timer } from '../../../src/alarm/index.ts'
import type { Document, InboxWake, LogEvent, StoredAlarm } from '../../../src/stores/index.ts'
import type { HolidayCalendar } from '../../../src/time/index.ts'
import type { Journal } from './journal.ts'
import { OrderedIndex } from './ordered-index.ts'
import { type AssertFree, NameIndex, Table } from './table.ts'

/** A timer, with the fields of its alarm needed for claims. */
export interface TimerRow extends Scope {
  readonly alarm: Serial
  /** The name of the alarm's target. */
  readonly target: string
  readonly timer: Timer
}

export interface InFlightRow {
  readonly shard: number
  readonly epoch: number
  /** Ids and versions. */
  readonly timers: readonly (readonly [Serial, number])[]
}

export interface ShardRow {
  readonly shard: number
  readonly pool: string
  readonly holder: string | null
  readonly epoch: number
}

export interface ProcessRow {
  readonly process: string
  readonly pools: readonly string[]
  /** By the database's clock. */
  readonly leaseUntil: number
  readonly heartbeats: number
  readonly takeovers: number
}

export interface CalendarRow {
  readonly tenant: string
  readonly calendar: HolidayCalendar
  /** The calendar version that its alarms use. */
  readonly recomputed: number
}

/** A wake, and until when its claim lasts. */
export type InboxRow = InboxWake & { readonly seq: Serial; readonly claimedUntil: number }

/** A row of the log. Its alarm's id and key are looked up on reading. */
export type LoggedRow = Omit<LogEvent, 'alarmId' | 'occurrenceId' | 'key'> & {
  readonly alarm: Serial | null
  readonly occurrence: string | null
}

/** A name that is unique within an owner. */
export function scopedName({ tenant, owner }: Scope, name = ''): string {
  return JSON.stringify([tenant, owner, name])
}

/** All tables of the simulated database, with their indexes. */
export class Tables {
  readonly alarms: Table<Serial, StoredAlarm>
  readonly alarmIds = new NameIndex<Serial, StoredAlarm>((alarm) => alarm.id)
  readonly alarmKeys = new NameIndex<Serial, StoredAlarm>(
    (alarm) => alarm.key && scopedName(alarm, alarm.key),
  )
  readonly alarmIdempotencyKeys = new NameIndex<Serial, StoredAlarm>(
    (alarm) => alarm.idempotencyKey && scopedName(alarm, alarm.idempotencyKey),
  )
  readonly alarmsOfOwner = new OrderedIndex<StoredAlarm>(
    (alarm) => scopedName(alarm),
    (alarm) => alarm.seq,
  )
  /** Idempotency keys replaced by an upsert, with their owners. */
  readonly idempotencyKeys: Table<string, Serial>
  readonly timers: Table<Serial, TimerRow>
  readonly timersOfAlarm = new OrderedIndex<TimerRow>(
    (row) => row.alarm,
    (row) => row.timer.id,
  )
  /** Waiting timers of each shard, by wake time. */
  readonly due = new OrderedIndex<TimerRow, number>(
    ({ timer }) => (timer.wakeAt === null ? null : timer.shard),
    ({ timer }) => timer.wakeAt!,
  )
  /** Waiting timers of each owner, by wake time. */
  readonly upcoming = new OrderedIndex<TimerRow, number>(
    (row) => (row.timer.wakeAt === null ? null : scopedName(row)),
    ({ timer }) => timer.wakeAt!,
  )
  readonly outcomes: Table<Serial, Outcome>
  readonly events: Table<Serial, LoggedRow>
  readonly eventsOfOwner = new OrderedIndex<LoggedRow>(scopedName, (event) => event.seq)
  readonly eventsOfTenant = new OrderedIndex<LoggedRow>(
    ({ tenant }) => tenant,
    (event) => event.seq,
  )
  readonly eventsOfAlarm = new OrderedIndex<LoggedRow>(
    (event) => event.alarm,
    (event) => event.seq,
  )
  readonly allEvents = new OrderedIndex<LoggedRow>(
    () => ALL,
    (event) => event.seq,
  )
  readonly inFlight: Table<Serial, InFlightRow>
  readonly batchesOfShard = new OrderedIndex<InFlightRow>(
    (batch) => batch.shard,
    () => 0,
  )
  readonly shards: Table<number, ShardRow>
  readonly processes: Table<string, ProcessRow>
  readonly calendars: Table<string, CalendarRow>
  readonly facts: Table<string, string>
  readonly documents: Table<string, Document>
  readonly inbox: Table<Serial, InboxRow>
  readonly inboxNames = new NameIndex<Serial, InboxRow>((wake) => scopedName(wake, wake.occurrenceId))
  readonly inboxOfOwner = new OrderedIndex<InboxRow, number>(
    (wake) => scopedName(wake),
    (wake) => wake.arrivedAt,
  )

  constructor(around: { journal: Journal; assertFree: AssertFree }) {
    this.alarms = new Table('alarms', around, [
      this.alarmIds,
      this.alarmKeys,
      this.alarmIdempotencyKeys,
      this.alarmsOfOwner,
    ])
    this.idempotencyKeys = new Table('idempotency_keys', around)
    this.timers = new Table('timers', around, [this.timersOfAlarm, this.due, this.upcoming])
    this.outcomes = new Table('outcomes', around)
    this.events = new Table('events', around, [
      this.eventsOfOwner,
      this.eventsOfTenant,
      this.eventsOfAlarm,
      this.allEvents,
    ])
    this.inFlight = new Table('inFlight', around, [this.batchesOfShard])
    this.shards = new Table('shards', around)
    this.processes = new Table('processes', around)
    this.calendars = new Table('calendars', around)
    this.facts = new Table('facts', around)
    this.documents = new Table('documents', around)
    this.inbox = new Table('inbox', around, [this.inboxNames, this.inboxOfOwner])
  }
}

/** The single group of an index over a whole table. */
export const ALL = 'all'
