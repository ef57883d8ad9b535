import { type CancelOutcome, checked, FILTERS } from '../alarm/index.ts'
import { ScopedAlarms } from './alarms.ts'
import type { Alarms, BulkFilter, BulkOptions, BulkResult } from './api.ts'
import { actOnMatching, onEach } from './bulk.ts'
import type { EventView, OwnEventInput } from './events/index.ts'
import { eventView, userEvent } from './events/index.ts'

const FILTER = { ...FILTERS, status: true, target: true, q: true, since: true } as const
const OPTIONS = { dryRun: true } as const

/** One owner's alarms and events: adds the calls on all alarms that match a filter, and events of the owner's own. */
export class BulkAlarms extends ScopedAlarms implements Alarms {
  override cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]>
  override cancelMany(filter: BulkFilter, options?: BulkOptions): Promise<BulkResult>
  override cancelMany(which: readonly string[] | BulkFilter, options?: BulkOptions): Promise<unknown> {
    if (typeof which !== 'object' || which === null || isList(which)) return super.cancelMany(which)
    return this.#onMatching('cancelMany', { status: 'pending', ...which }, options, (id) => this.cancel(id))
  }

  async append(event: OwnEventInput): Promise<EventView> {
    const { store, logNotifier, limits } = this.library
    const appended = await store.append(this.scope, userEvent(event, this.library.context(), limits))
    logNotifier.notify(this.scope)
    return eventView(appended)
  }

  pauseMany(filter: BulkFilter, options?: BulkOptions): Promise<BulkResult> {
    return this.#onMatching('pauseMany', { status: 'active', ...filter }, options, (id) => this.pause(id))
  }

  resumeMany(filter: BulkFilter, options?: BulkOptions): Promise<BulkResult> {
    return this.#onMatching('resumeMany', { status: 'paused', ...filter }, options, (id) => this.resume(id))
  }

  async #onMatching(
    call: string,
    filter: BulkFilter,
    options: BulkOptions = {},
    act: (id: string) => Promise<unknown>,
  ): Promise<BulkResult> {
    checked<BulkFilter>(call, filter, FILTER)
    return actOnMatching(this, filter, onEach(act), checked<BulkOptions>(call, options, OPTIONS))
  }
}

function isList(which: readonly string[] | BulkFilter): which is readonly string[] {
  return Array.isArray(which)
}
