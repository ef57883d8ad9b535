import type { Scope, Serial, Snapshot } from '../../../alarm/index.ts'
import type { HolidayCalendar } from '../../../time/index.ts'
import {
  type Document,
  type EditedCalendar,
  type InboxWake,
  type ListQuery,
  type LogEvent,
  type NewDocument,
  type NewWake,
  type Page,
  type Stats,
  type StoredStory,
  statsOf,
  type UserEvent,
  type WakeRequest,
} from '../../index.ts'
import { ShardedStore } from '../../sharded/index.ts'
import type { Database } from '../connection/index.ts'
import { alarmNamed, calendarCacheOf, readSnapshots, snapshotIn } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { DOCUMENT_QUERIES, documentNamed, listDocuments, putDocument } from './documents.ts'
import { appendEvent, lastEvent, newestEvents, readEvents } from './events.ts'
import { Gets } from './gets.ts'
import { claimWakes, INBOX_QUERIES, putWake, removeWake } from './inbox.ts'
import { list } from './list.ts'
import { LogHorizon } from './log-horizon.ts'
import { prune } from './prune.ts'

/** Also `on` for every transaction on a standby. */
const READ_ONLY = "SELECT current_setting('transaction_read_only')"

/** The reads of the store, and the writes that concern no timer: documents, inboxes, `meta`, the log. */
export abstract class PostgresRecords extends ShardedStore {
  protected readonly database: Database
  readonly #horizon: LogHorizon
  readonly #gets: Gets

  constructor(database: Database) {
    super()
    this.database = database
    this.#horizon = new LogHorizon(database)
    this.#gets = new Gets(database)
  }

  get(
    scope: Scope,
    by: { id: string } | { key: string } | { idempotencyKey: string },
  ): Promise<Snapshot | null> {
    return this.guard(async () => {
      if ('id' in by) return this.#gets.get(scope, by.id)
      const { session } = this.database
      const alarm = await alarmNamed(session, scope, by)
      if (alarm === undefined) return null
      return snapshotIn(await readSnapshots(session, [alarm.seq]), alarm.seq) ?? null
    })
  }

  list(scope: Scope, query: ListQuery): Promise<Page> {
    return this.guard(() => this.database.inSnapshot((session) => list(session, scope, query)))
  }

  stats(scope: Scope): Promise<Stats> {
    return this.guard(async () =>
      statsOf((await this.database.session.row(sql.tallyOfOwner, scope.tenant, scope.owner)) as number[]),
    )
  }

  countPending(tenant: string): Promise<number> {
    return this.guard(
      async () => (await this.database.session.row(sql.pendingOfTenant, tenant))![0] as number,
    )
  }

  isWritable(): Promise<boolean> {
    return this.guard(async () => (await this.database.session.row(READ_ONLY))![0] === 'off')
  }

  countInboxWakes(limit: number): Promise<number> {
    return this.guard(async () => Number((await this.database.session.row(INBOX_QUERIES.waiting, limit))![0]))
  }

  getDocument(kind: string, name: string): Promise<Document | null> {
    return this.guard(() => documentNamed(this.database.session, kind, name))
  }

  listDocuments(kind: string, tenant: string | null, after: string, limit: number): Promise<Document[]> {
    return this.guard(() => listDocuments(this.database.session, kind, tenant, after, limit))
  }

  events(scope: Scope, query: { after: Serial; limit: number; alarmId?: string }): Promise<LogEvent[]> {
    return this.guard(() => readEvents(this.database, this.#horizon, scope, query))
  }

  story(scope: Scope, alarmId: string, limit: number): Promise<StoredStory | null> {
    return this.guard(() =>
      this.database.inSnapshot(async (session) => {
        const alarm = await alarmNamed(session, scope, { id: alarmId })
        if (alarm === undefined) return null
        const { seq } = alarm
        const [read, events] = await Promise.all([
          readSnapshots(session, [seq]),
          newestEvents(session, seq, limit),
        ])
        return { snapshot: snapshotIn(read, seq)!, events }
      }),
    )
  }

  lastEvent(): Promise<Serial> {
    return this.guard(() => lastEvent(this.database, this.#horizon))
  }

  calendars(tenant: string): readonly HolidayCalendar[] {
    return calendarCacheOf(this.database.session).of(tenant)
  }

  readCalendars(): Promise<void> {
    return this.guard(() => calendarCacheOf(this.database.session).refresh(this.database.session))
  }

  unreviewedCalendars(): Promise<readonly EditedCalendar[]> {
    return this.guard(async () => {
      const rows = await this.database.session.rows(sql.unreviewedCalendars)
      return rows.map(([tenant, name, version]) => ({ tenant, name, version }) as EditedCalendar)
    })
  }

  getMeta(name: string): Promise<string | null> {
    return this.guard(async () => ((await this.database.session.row(sql.meta, name))?.[0] as string) ?? null)
  }

  newestInstant(): Promise<number | null> {
    return this.guard(async () => {
      const { session } = this.database
      const rows = await Promise.all([session.row(sql.lastLogged), session.row(sql.lastSet)])
      const moments = rows.flatMap((row) => (row?.[0] as number | undefined) ?? [])
      return moments.length === 0 ? null : Math.max(...moments)
    })
  }

  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null> {
    return this.guard(() => putDocument(this.database.session, document, now, version))
  }

  removeDocument(kind: string, name: string): Promise<boolean> {
    return this.guard(async () => (await this.database.session.run(DOCUMENT_QUERIES.remove, kind, name)) > 0)
  }

  putWake(wake: NewWake, max: number): Promise<void> {
    return this.guard(() => putWake(this.database.session, wake, max))
  }

  claimWakes(scope: Scope, request: WakeRequest): Promise<InboxWake[]> {
    return this.guard(() => claimWakes(this.database.session, scope, request))
  }

  removeWake(
    scope: Scope,
    occurrenceId: string,
    triesMin?: number,
    triesMax?: number,
  ): Promise<InboxWake | null> {
    return this.guard(() => removeWake(this.database.session, scope, occurrenceId, triesMin, triesMax))
  }

  async calendarReviewed(tenant: string, { name, version }: Pick<HolidayCalendar, 'name' | 'version'>) {
    await this.guard(() => this.database.session.run(sql.markReviewed, version, tenant, name))
  }

  async putMeta(name: string, value: string): Promise<void> {
    await this.guard(() => this.database.session.run(sql.putMeta, name, value))
  }

  append(scope: Scope, event: UserEvent): Promise<LogEvent> {
    return this.guard(() => appendEvent(this.database, scope, event))
  }

  prune(endedBefore: number, limit: number): Promise<number> {
    return this.guard(() => prune(this.database, endedBefore, limit))
  }

  protected assertOpen(): void {
    this.database.assertOpen()
  }

  /** Runs work; turns PostgreSQL's errors into ours. */
  protected async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.assertOpen()
      return await work()
    } catch (thrown) {
      throw this.database.failure(thrown)
    }
  }
}
