import { recomputeInstants, type Serial } from '../alarm/index.ts'
import { reportAndRethrow } from '../engine/index.ts'
import { type EditedCalendar, type RecomputeResult, ZONE_DATA_META } from '../stores/index.ts'
import type { Assembly, LibraryContext } from './context.ts'
import { MissingHandlerReport } from './missing-handlers.ts'

/** What computing pending instants again needs. */
export type RecomputeOptions = Pick<LibraryContext, 'store' | 'observer' | 'context'>

/** What the upkeep needs. */
export type UpkeepOptions = RecomputeOptions &
  Pick<LibraryContext, 'handlerNames'> &
  Pick<Assembly, 'clock' | 'zoneData' | 'retentionMs' | 'upkeepMs' | 'onError'>

const EVERY_MS = 60_000
/** Old events read, and deleted, in one transaction. The next follows after a pause in which others can write. */
const PRUNED_MAX = 500
const PRUNE_PAUSE_MS = 50
/** Alarms computed again in one transaction, so that others get their turn at the write lock. */
const RECOMPUTED_MAX = 500

/**
 * Background work: deletes ended alarms and old events (nothing else is ever deleted), and computes pending instants again after a
 * change of zone data, or if a process died while it did so after an edit of a calendar.
 */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #missingHandlers = new MissingHandlerReport()
  #cancel: (() => void) | null = null
  #recomputeAt = 0

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#cancel === null) this.#schedule(this.#everyMs)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  /** Computes pending instants again if their calendar or the zone data changed; done before anything fires. */
  async recomputeInstants(): Promise<void> {
    const { store, onError } = this.#options
    const zones = await this.#recomputeForZoneData()
    for (const edited of await store.calendarsToRecompute()) await recomputeCalendar(this.#options, edited)
    if (zones === null || zones.moved === 0) return
    const { from, to, moved } = zones
    // No failure, but operators should see it wherever they see errors: alarms fire at other instants than were announced.
    onError(
      new Error(
        `the zone data is ${to} and was ${from}: ${moved} pending alarms moved with it (alarm.rescheduled in the log)`,
      ),
    )
  }

  get #everyMs(): number {
    return this.#options.upkeepMs ?? EVERY_MS
  }

  #schedule(delayMs: number): void {
    this.#cancel = this.#options.clock.setTimer(delayMs, () => void this.#run())
  }

  async #run(): Promise<void> {
    const { store, clock, handlerNames, onError } = this.#options
    let more = false
    try {
      // Done at the start, unless the store did not answer then.
      await handlerNames.announce()
      more = await this.#prune()
      // Also while there is always more to delete.
      if (!more || clock.monotonic() >= this.#recomputeAt) {
        this.#recomputeAt = clock.monotonic() + this.#everyMs
        await this.recomputeInstants()
        await this.#missingHandlers.check(store, clock.now(), onError)
      }
    } catch (thrown) {
      onError(thrown)
    }
    if (this.#cancel !== null) this.#schedule(more ? PRUNE_PAUSE_MS : this.#everyMs)
  }

  /** Deletes some of what ended long ago. Returns whether there is more. */
  async #prune(): Promise<boolean> {
    const { store, clock, observer, retentionMs } = this.#options
    if (retentionMs === null) return false
    const { more } = await store
      .prune(clock.now() - retentionMs, PRUNED_MAX)
      .catch((thrown: unknown) => reportAndRethrow(observer, 'prune', thrown))
    return more
  }

  /**
   * Computes all pending instants on wall clocks again if the runtime's zone data changed since the store was last used. Null
   * if it did not, or on the first use. Doing it twice changes nothing, so a process may die half-way.
   */
  async #recomputeForZoneData(): Promise<{ from: string; to: string; moved: number } | null> {
    const { store, zoneData: to } = this.#options
    const from = await store.getMeta(ZONE_DATA_META)
    if (from === to) return null
    const moved = await recomputeAll(this.#options, { zoned: true })
    await store.putMeta(ZONE_DATA_META, to)
    return from === null ? null : { from, to, moved }
  }
}

/**
 * Computes pending instants again after an edit of a calendar: those of all alarms of its tenant that name calendars. Returns
 * how many moved.
 */
export async function recomputeCalendar(options: RecomputeOptions, edited: EditedCalendar): Promise<number> {
  const moved = await recomputeAll(options, { calendarsOf: edited.tenant })
  // Recorded last: if this process dies before, the next one that starts does it again.
  await options.store.markCalendarRecomputed(edited.tenant, edited)
  return moved
}

async function recomputeAll(
  { store, context, observer }: RecomputeOptions,
  which: { calendarsOf: string } | { zoned: true },
): Promise<number> {
  let moved = 0
  for (let after: Serial | null = 0; after !== null; ) {
    const now = context()
    const selection = { ...which, after, limit: RECOMPUTED_MAX }
    // `review` is the name of this work in the metrics, which must not change with the name of the method.
    const page: RecomputeResult = await store
      .recomputeInstants(selection, (snapshot) => recomputeInstants(snapshot, now), now)
      .catch((thrown: unknown) => reportAndRethrow(observer, 'review', thrown))
    moved += page.changed
    after = page.next
  }
  return moved
}
