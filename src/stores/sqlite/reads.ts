import { type ReadScope, type Scope, type Serial, serialOf } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { HolidayCalendar } from '../../time/index.ts'
import {
  type AlarmName,
  type CountOption,
  documentOf,
  type EditedCalendar,
  type EventQuery,
  eventOf,
  type InFlightTimers,
  type Lease,
  type ListQuery,
  prunedEventsMeta,
  statsOf,
} from '../index.ts'
import { nextWakeAt } from './claims/index.ts'
import { type Session, storeFailure } from './connection/index.ts'
import { readShards } from './ownership/index.ts'
import {
  DOCUMENT_QUERIES,
  documentNamed,
  INBOX_QUERIES,
  LOG_QUERIES,
  list,
  readEvents,
} from './reads/index.ts'
import { alarmNamed, CALENDAR_QUERIES, calendarsOf, metaOf, readInFlight, snapshotOf } from './rows/index.ts'
import * as sql from './sql/index.ts'

/** The reads of the store. The port has their types. */
export class SqliteReads {
  protected readonly path: string
  protected readonly session: Session
  /** Lets other work of this process run. */
  protected readonly turn: () => Promise<void>
  protected isClosed = false

  constructor(session: Session, path: string, turn: () => Promise<void>) {
    this.session = session
    this.path = path
    this.turn = turn
  }

  async get(scope: Scope, by: AlarmName) {
    return this.readTogether((session) => {
      const alarm = alarmNamed(session, scope, by)
      return alarm === undefined ? null : snapshotOf(session, alarm, readInFlight(session))
    })
  }

  async list(scope: Scope, query: ListQuery) {
    const paging = list(this.session, scope, query)
    for (;;) {
      const step = this.readTogether(() => paging.next())
      if (step.done) return step.value
      await this.turn()
    }
  }

  async stats(scope: Scope) {
    return this.read((session) =>
      statsOf((session.value(sql.tallyOfOwner, scope.tenant, scope.owner) ?? []) as number[]),
    )
  }

  async countPending(tenant: string) {
    return this.read(
      (session) => session.get<{ pending: number | null }>(sql.pendingOfTenant, tenant)!.pending ?? 0,
    )
  }

  /** A file is opened for writing. If it stops being writable, the heartbeat fails and the leases end. */
  async isWritable() {
    return this.read(() => true)
  }

  async countInboxWakes(limit: number) {
    return this.read((session) => session.get<{ n: number }>(INBOX_QUERIES.countAll, limit)!.n)
  }

  async events(scope: ReadScope, query: EventQuery) {
    return this.read((session) => readEvents(session, scope, query))
  }

  async firstEventAfter(position: Serial) {
    return this.read(
      (session) => session.get<{ seq: Serial; at: number }>(sql.firstEventAfter, position) ?? null,
    )
  }

  async prunedTo(scope: ReadScope) {
    const name = prunedEventsMeta(scope)
    return this.read((session) => {
      if (scope.owner === null) return session.get<{ newest: Serial | null }>(sql.newestMeta, name)!.newest
      const value = metaOf(session, name)
      return value === null ? null : serialOf(value)
    })
  }

  async story(scope: Scope, alarmId: string, limit: number) {
    return this.readTogether((session) => {
      const alarm = alarmNamed(session, scope, { id: alarmId })
      if (alarm === undefined) return null
      const snapshot = snapshotOf(session, alarm, readInFlight(session))
      const newest = session.values(LOG_QUERIES.newestOfAlarm, alarm.seq, limit)
      return { snapshot, events: newest.map(eventOf).reverse() }
    })
  }

  async newestInstant() {
    return this.read((session) => {
      const moments = [sql.newestEventAt, sql.newestAlarmAt].flatMap(
        (last) => session.get<{ at: number }>(last)?.at ?? [],
      )
      return moments.length === 0 ? null : Math.max(...moments)
    })
  }

  async lastEvent() {
    return this.read((session) => session.get<{ seq: number }>(sql.lastEvent)?.seq ?? 0)
  }

  async nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers) {
    return this.read((session) => nextWakeAt(session, leases, inFlight))
  }

  calendars(tenant: string): readonly HolidayCalendar[] {
    return this.read((session) => calendarsOf(session, tenant))
  }

  /** Nothing to do: `calendars` reads the file. */
  async readCalendars(): Promise<void> {}

  async calendarsToRecompute() {
    return this.read((session) => session.all<EditedCalendar>(CALENDAR_QUERIES.toRecompute))
  }

  async getMeta(name: string) {
    return this.read((session) => metaOf(session, name))
  }

  async shardStates(counts?: CountOption, pools?: readonly string[]) {
    return this.read((session) => readShards(session, this.path, counts, pools))
  }

  async getDocument(kind: string, name: string) {
    return this.read((session) => documentNamed(session, kind, name))
  }

  async listDocuments(kind: string, tenant: string | null, after: string, limit: number) {
    return this.read((session) => {
      const rows =
        tenant === null
          ? session.values(DOCUMENT_QUERIES.list, kind, after, limit)
          : session.values(DOCUMENT_QUERIES.listOfTenant, kind, tenant, after, limit)
      return rows.map(documentOf)
    })
  }

  /** Reads committed rows; turns SQLite's errors into ours. */
  protected read<T>(work: (session: Session) => T): T {
    this.assertOpen()
    try {
      return work(this.session)
    } catch (thrown) {
      throw storeFailure(thrown, this.path)
    }
  }

  /** The same for several statements, in one read transaction. */
  protected readTogether<T>(work: (session: Session) => T): T {
    return this.read((session) => session.inReadTransaction(work))
  }

  protected assertOpen(): void {
    if (this.isClosed) throw new WakefulError('store.closed', { name: this.path })
  }
}
