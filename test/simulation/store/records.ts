import type { Scope } from '../../../src/alarm/index.ts'
import type {
  Document,
  InboxWake,
  LogEvent,
  NewDocument,
  NewWake,
  Pruned,
  UserEvent,
  WakeRequest,
} from '../../../src/stores/index.ts'
import type { HolidayCalendar } from '../../../src/time/index.ts'
import { markRecomputed } from './calendars.ts'
import { putDocument, removeDocument } from './documents.ts'
import { claimWakes, putWake, removeWake } from './inbox.ts'
import { appendEvent, prune } from './log.ts'
import { SimulatedReads } from './reads.ts'

/** Writes other than alarms and timers: one statement each, without notices. */
export abstract class SimulatedRecords extends SimulatedReads {
  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null> {
    return this.atomic('put_document', () => putDocument(this.database, document, now, version))
  }

  removeDocument(kind: string, name: string): Promise<boolean> {
    return this.atomic('remove_document', () => removeDocument(this.database, kind, name))
  }

  putWake(wake: NewWake, max: number): Promise<void> {
    return this.atomic('put_wake', () => putWake(this.database, wake, max))
  }

  claimWakes(scope: Scope, request: WakeRequest): Promise<InboxWake[]> {
    return this.atomic('take_wakes', () => claimWakes(this.database, scope, request))
  }

  removeWake(
    scope: Scope,
    occurrenceId: string,
    triesMin?: number,
    triesMax?: number,
  ): Promise<InboxWake | null> {
    return this.atomic('remove_wake', () =>
      removeWake(this.database, scope, occurrenceId, triesMin, triesMax),
    )
  }

  markCalendarRecomputed(
    tenant: string,
    { name, version }: Pick<HolidayCalendar, 'name' | 'version'>,
  ): Promise<void> {
    return this.atomic('calendar_reviewed', () => markRecomputed(this.database, tenant, name, version))
  }

  putMeta(name: string, value: string): Promise<void> {
    return this.atomic('put_fact', () => this.database.tables.facts.put(name, value))
  }

  append(scope: Scope, event: UserEvent): Promise<LogEvent> {
    return this.atomic('append', () => appendEvent(this.database, scope, event))
  }

  prune(before: number, limit: number): Promise<Pruned> {
    return this.atomic('prune', () => prune(this.database, before, limit))
  }

  /** Runs work in a statement that is its own transaction. */
  protected atomic<T>(name: string, work: () => T): Promise<T> {
    return this.connection.send(name, () => {
      const answer = this.database.atomic(work)
      this.database.logGrown()
      return answer
    })
  }
}
