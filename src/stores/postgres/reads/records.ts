import { type ReadScope, type Scope, type Serial, type Snapshot, serialOf } from '../../../alarm/index.ts'
import type { HolidayCalendar } from '../../../time/index.ts'
import {
  type AlarmName,
  type Document,
  documentOf,
  type EditedCalendar,
  type EventPage,
  type EventQuery,
  type InboxWake,
  inboxFull,
  type ListQuery,
  type LogEvent,
  type NewDocument,
  type NewWake,
  type Page,
  type Pruned,
  prunedEventsMeta,
  type Stats,
  type StoredStory,
  statsOf,
  type UserEvent,
  type WakeRequest,
  wakeOf,
  wakeValues,
} from '../../index.ts'
import { ShardedStore } from '../../sharded/index.ts'
import type { Database, Session } from '../connection/index.ts'
import { calendarCacheOf, readSnapshots, seqNamed, snapshotIn } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { DOCUMENT_QUERIES, documentIn, putDocument } from './documents.ts'
import { appendEvent, newestEvents, readEvents } from './events.ts'
import { Gets } from './gets.ts'
import { byArrival, INBOX_QUERIES } from './inbox.ts'
import { list } from './list.ts'
import { LogHorizon } from './log-horizon.ts'
import { prune } from './prune.ts'

/** Also `on` for every transaction on a standby. */
const READ_ONLY = "SELECT current_setting('transaction_read_only')"

/** The reads of the store, and the writes that concern no timer: documents, inboxes, `meta`, the log. */
export abstract class PostgresRecords extends ShardedStore {
  /** @internal */
  protected readonly database: Database
  readonly #horizon: LogHorizon
  readonly #gets: Gets

  /** @internal */
  constructor(database: Database) {
    super()
    this.database = database
    this.#horizon = new LogHorizon(database)
    this.#gets = new Gets(database)
  }

  get(scope: Scope, by: AlarmName): Promise<Snapshot | null> {
    return this.#ask(async (session) => {
      if ('id' in by) return this.#gets.get(scope, by.id)
      const seq = await seqNamed(session, scope, by)
      return seq === undefined ? null : (snapshotIn(await readSnapshots(session, [seq]), seq) ?? null)
    })
  }

  list(scope: Scope, query: ListQuery): Promise<Page> {
    return this.guard(() => this.database.inSnapshot((session) => list(session, scope, query)))
  }

  stats({ tenant, owner }: Scope): Promise<Stats> {
    return this.#ask(async (session) =>
      statsOf((await session.row(sql.tallyOfOwner, tenant, owner)) as number[]),
    )
  }

  countPending(tenant: string): Promise<number> {
    return this.#ask(async (session) => (await session.row(sql.pendingOfTenant, tenant))![0] as number)
  }

  isWritable(): Promise<boolean> {
    return this.#ask(async (session) => (await session.row(READ_ONLY))![0] === 'off')
  }

  getDocument(kind: string, name: string): Promise<Document | null> {
    return this.#ask(async (session) => documentIn(await session.row(DOCUMENT_QUERIES.named, kind, name)))
  }

  listDocuments(kind: string, tenant: string | null, after: string, limit: number): Promise<Document[]> {
    return this.#ask(async (session) => {
      const rows =
        tenant === null
          ? await session.rows(DOCUMENT_QUERIES.list, kind, after, limit)
          : await session.rows(DOCUMENT_QUERIES.listOfTenant, kind, tenant, after, limit)
      return rows.map(documentOf)
    })
  }

  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null> {
    return this.#ask((session) => putDocument(session, document, now, version))
  }

  removeDocument(kind: string, name: string): Promise<boolean> {
    return this.#ask(async (session) => (await session.run(DOCUMENT_QUERIES.remove, kind, name)) > 0)
  }

  events(scope: ReadScope, query: EventQuery): Promise<EventPage> {
    return this.#ask((session) => readEvents(session, this.#horizon, scope, query))
  }

  firstEventAfter(position: Serial) {
    return this.#ask(async (session) => {
      const row = await session.row(sql.firstEventAfter, position)
      return row === undefined ? null : { seq: row[0] as Serial, at: row[1] as number }
    })
  }

  prunedTo(scope: ReadScope): Promise<Serial | null> {
    const query = scope.owner === null ? sql.newestMeta : sql.meta
    return this.#ask(async (session) => {
      const [value] = (await session.row(query, prunedEventsMeta(scope))) ?? [null]
      return value === null ? null : serialOf(String(value))
    })
  }

  story(scope: Scope, alarmId: string, limit: number): Promise<StoredStory | null> {
    return this.guard(() =>
      this.database.inSnapshot(async (session) => {
        const seq = await seqNamed(session, scope, { id: alarmId })
        if (seq === undefined) return null
        const [read, events] = await Promise.all([
          readSnapshots(session, [seq]),
          newestEvents(session, seq, limit),
        ])
        return { snapshot: snapshotIn(read, seq)!, events }
      }),
    )
  }

  append(scope: Scope, event: UserEvent): Promise<LogEvent> {
    return this.#ask((session) => appendEvent(session, scope, event))
  }

  /** The newest event at or before the horizon. */
  lastEvent(): Promise<Serial> {
    return this.#ask(async (session) => {
      const row = await session.row(sql.lastEvent, await this.#horizon.advance(0))
      return (row?.[0] as Serial | undefined) ?? 0
    })
  }

  newestInstant(): Promise<number | null> {
    return this.#ask(async (session) => {
      const rows = await Promise.all([session.row(sql.lastLogged), session.row(sql.lastSet)])
      const moments = rows.flatMap((row) => (row?.[0] as number | undefined) ?? [])
      return moments.length === 0 ? null : Math.max(...moments)
    })
  }

  calendars(tenant: string): readonly HolidayCalendar[] {
    return calendarCacheOf(this.database.session).of(tenant)
  }

  readCalendars(): Promise<void> {
    return this.#ask((session) => calendarCacheOf(session).refresh(session))
  }

  calendarsToRecompute(): Promise<readonly EditedCalendar[]> {
    return this.#ask(async (session) => {
      const rows = await session.rows(sql.calendarsToRecompute)
      return rows.map(([tenant, name, version]) => ({ tenant, name, version }) as EditedCalendar)
    })
  }

  async markCalendarRecomputed(tenant: string, { name, version }: Pick<HolidayCalendar, 'name' | 'version'>) {
    await this.#ask((session) => session.run(sql.markRecomputed, version, tenant, name))
  }

  getMeta(name: string): Promise<string | null> {
    return this.#ask(async (session) => ((await session.row(sql.meta, name))?.[0] as string) ?? null)
  }

  async putMeta(name: string, value: string): Promise<void> {
    await this.#ask((session) => session.run(sql.putMeta, name, value))
  }

  countInboxWakes(limit: number): Promise<number> {
    return this.#ask(async (session) => Number((await session.row(INBOX_QUERIES.waiting, limit))![0]))
  }

  putWake(wake: NewWake, max: number): Promise<void> {
    return this.#ask(async (session) => {
      if ((await session.run(INBOX_QUERIES.put, ...wakeValues({ ...wake, tries: 0 }), max)) > 0) return
      const { tenant, owner, occurrenceId } = wake
      const known = await session.row(INBOX_QUERIES.known, tenant, owner, occurrenceId)
      if (known === undefined) throw inboxFull(wake, max)
    })
  }

  claimWakes({ tenant, owner }: Scope, { now, holdMs, limit }: WakeRequest): Promise<InboxWake[]> {
    return this.#ask(async (session) => {
      const rows = await session.rows(INBOX_QUERIES.claim, tenant, owner, now, holdMs, limit)
      // UPDATE returns rows in no particular order.
      return rows.sort(byArrival).map(wakeOf)
    })
  }

  removeWake(
    { tenant, owner }: Scope,
    occurrenceId: string,
    triesMin = 0,
    triesMax = Number.MAX_SAFE_INTEGER,
  ): Promise<InboxWake | null> {
    return this.#ask(async (session) => {
      const row = await session.row(INBOX_QUERIES.remove, tenant, owner, occurrenceId, triesMin, triesMax)
      return row === undefined ? null : wakeOf(row)
    })
  }

  prune(before: number, limit: number): Promise<Pruned> {
    return this.guard(() => prune(this.database, before, limit))
  }

  #ask<T>(read: (session: Session) => Promise<T>): Promise<T> {
    return this.guard(() => read(this.database.session))
  }
}
