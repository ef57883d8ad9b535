import type { ReadScope, Scope, Serial, Snapshot } from '../../../src/alarm/index.ts'
import type {
  AlarmName,
  CountOption,
  Document,
  EditedCalendar,
  EventPage,
  EventQuery,
  ListQuery,
  MissingHandler,
  Page,
  ShardState,
  Stats,
  StoredStory,
  StoreReads,
} from '../../../src/stores/index.ts'
import { ShardedStore } from '../../../src/stores/sharded/index.ts'
import type { HolidayCalendar } from '../../../src/time/index.ts'
import { allCalendars, calendarsToRecompute } from './calendars.ts'
import type { Connection } from './connection.ts'
import type { SimulatedDatabase } from './database.ts'
import { documentNamed, listDocuments } from './documents.ts'
import { readShards } from './leases.ts'
import { list, readPending, readStats } from './list.ts'
import { lastEvent, newestEvents, prunedTo, readEvents } from './log.ts'
import { missingHandlers } from './releases.ts'
import { seqNamed, snapshotAt } from './snapshots.ts'
import { ALL, type CalendarRow } from './tables.ts'

/** The reads of a simulated store, one statement each. */
export abstract class SimulatedReads extends ShardedStore implements StoreReads {
  protected readonly connection: Connection
  /** This process's cached calendars. */
  #calendars: readonly CalendarRow[] = []

  constructor(connection: Connection) {
    super()
    this.connection = connection
  }

  protected get database(): SimulatedDatabase {
    return this.connection.database
  }

  protected guard<T>(call: () => Promise<T>): Promise<T> {
    return call()
  }

  protected assertOpen(): void {
    this.connection.assertOpen()
  }

  get(scope: Scope, by: AlarmName): Promise<Snapshot | null> {
    return this.#ask('get', (database) => {
      const seq = seqNamed(database, scope, by)
      return seq === undefined ? null : (snapshotAt(database, seq) ?? null)
    })
  }

  list(scope: Scope, query: ListQuery): Promise<Page> {
    return this.#ask('list', (database) => list(database, scope, query))
  }

  stats(scope: Scope): Promise<Stats> {
    return this.#ask('stats', (database) => readStats(database, scope))
  }

  countPending(tenant: string): Promise<number> {
    return this.#ask('pending_of', (database) => readPending(database, tenant))
  }

  isWritable(): Promise<boolean> {
    return this.#ask('takes_writes', () => true)
  }

  countInboxWakes(limit: number): Promise<number> {
    return this.#ask('wakes_waiting', ({ tables }) => Math.min(limit, tables.inbox.values().length))
  }

  getDocument(kind: string, name: string): Promise<Document | null> {
    return this.#ask('get_document', (database) => documentNamed(database, kind, name))
  }

  listDocuments(kind: string, tenant: string | null, after: string, limit: number): Promise<Document[]> {
    return this.#ask('list_documents', (database) => listDocuments(database, kind, tenant, after, limit))
  }

  events(scope: ReadScope, query: EventQuery): Promise<EventPage> {
    return this.#ask('events', (database) => readEvents(database, scope, query))
  }

  firstEventAfter(position: Serial) {
    return this.#ask('first_event', ({ tables }) => {
      const key = tables.allEvents.in(ALL)[tables.allEvents.upTo(ALL, position)]?.key
      return key === undefined ? null : { seq: key, at: tables.events.get(key)!.at }
    })
  }

  prunedTo(scope: ReadScope): Promise<Serial | null> {
    return this.#ask('pruned_to', (database) => prunedTo(database, scope))
  }

  story(scope: Scope, alarmId: string, limit: number): Promise<StoredStory | null> {
    return this.#ask('story', (database) => {
      const seq = seqNamed(database, scope, { id: alarmId })
      const snapshot = seq === undefined ? undefined : snapshotAt(database, seq)
      return snapshot === undefined ? null : { snapshot, events: newestEvents(database, seq!, limit) }
    })
  }

  lastEvent(): Promise<Serial> {
    return this.#ask('last_event', (database) => lastEvent(database)?.seq ?? 0)
  }

  newestInstant(): Promise<number | null> {
    return this.#ask('last_seen', (database) => {
      const set = database.tables.alarms.values().at(-1)?.createdAt
      const moments = [lastEvent(database)?.at, set].filter((at) => at !== undefined)
      return moments.length === 0 ? null : Math.max(...moments)
    })
  }

  calendars(tenant: string): readonly HolidayCalendar[] {
    return this.#calendars.filter((row) => row.tenant === tenant).map(({ calendar }) => calendar)
  }

  async readCalendars(): Promise<void> {
    this.#calendars = await this.#ask('calendars', allCalendars)
  }

  calendarsToRecompute(): Promise<readonly EditedCalendar[]> {
    return this.#ask('unreviewed_calendars', calendarsToRecompute)
  }

  getMeta(name: string): Promise<string | null> {
    return this.#ask('fact', (database) => database.tables.facts.get(name) ?? null)
  }

  shardStates(counts: CountOption = true, pools?: readonly string[]): Promise<ShardState[]> {
    return this.#ask('ownership', (database) => readShards(database, counts, pools))
  }

  missingHandlers(dueBy: number, limit: number): Promise<MissingHandler[]> {
    return this.#ask('missing_handlers', (database) => missingHandlers(database, dueBy, limit))
  }

  #ask<T>(name: string, read: (database: SimulatedDatabase) => T): Promise<T> {
    return this.connection.send(name, () => read(this.database))
  }
}
