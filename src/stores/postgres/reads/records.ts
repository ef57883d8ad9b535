import type { Scope } from '../../../alarm/index.ts'
import type { HolidayCalendar } from '../../../time/index.ts'
import type {
  Document,
  InboxWake,
  LogEvent,
  NewDocument,
  NewWake,
  UserEvent,
  WakeRequest,
} from '../../index.ts'
import * as sql from '../sql/index.ts'
import { DOCUMENT_QUERIES, putDocument } from './documents.ts'
import { appendEvent } from './events.ts'
import { putWake, removeWake, takeWakes } from './inbox.ts'
import { prune } from './prune.ts'
import { PostgresReads } from './reads.ts'

/** What is written beside the alarms and their timers: it wakes nobody, and needs nothing but the database. */
export class PostgresRecords extends PostgresReads {
  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null> {
    return this.guard(() => putDocument(this.database.session, document, now, version))
  }

  removeDocument(kind: string, name: string): Promise<boolean> {
    return this.guard(async () => (await this.database.session.run(DOCUMENT_QUERIES.remove, kind, name)) > 0)
  }

  putWake(wake: NewWake, max: number): Promise<void> {
    return this.guard(() => putWake(this.database.session, wake, max))
  }

  takeWakes(scope: Scope, request: WakeRequest): Promise<InboxWake[]> {
    return this.guard(() => takeWakes(this.database.session, scope, request))
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
}
