import { review, type Serial } from '../alarm/index.ts'
import { reportAndRethrow } from '../engine/index.ts'
import { type EditedCalendar, type ReviewResult, ZONE_DATA_META } from '../stores/index.ts'
import type { Assembly, LibraryContext } from './context.ts'

/** What a review needs. */
export type ReviewOptions = Pick<LibraryContext, 'store' | 'observer' | 'context'>

/** What the upkeep needs. */
export type UpkeepOptions = ReviewOptions &
  Pick<Assembly, 'clock' | 'zoneData' | 'retentionMs' | 'upkeepMs' | 'onError'>

const EVERY_MS = 60_000
/** Alarms deleted in one transaction; the next batch follows after a pause in which others can write. */
const PRUNED_MAX = 200
const PRUNE_PAUSE_MS = 50
/** Alarms reviewed in one transaction, so that others get their turn at the write lock. */
const REVIEWED_MAX = 500

/** Background work: deletes what ended long ago (nothing else is ever deleted), and finishes reviews that a process died over. */
export class Upkeep {
  readonly #options: UpkeepOptions
  #cancel: (() => void) | null = null

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

  /** Makes pending instants follow today's calendars and zone data; done before anything fires. */
  async review(): Promise<void> {
    const { store, onError } = this.#options
    const zones = await this.#reviewZones()
    for (const edited of await store.unreviewedCalendars()) await reviewCalendar(this.#options, edited)
    if (zones === null || zones.moved === 0) return
    const { from, to, moved } = zones
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
    const { store, clock, observer, retentionMs, onError } = this.#options
    let pruned = 0
    try {
      if (retentionMs !== null)
        pruned = await store
          .prune(clock.now() - retentionMs, PRUNED_MAX)
          .catch((thrown: unknown) => reportAndRethrow(observer, 'prune', thrown))
      if (pruned < PRUNED_MAX) await this.review()
    } catch (thrown) {
      onError(thrown)
    }
    if (this.#cancel !== null) this.#schedule(pruned === PRUNED_MAX ? PRUNE_PAUSE_MS : this.#everyMs)
  }

  /**
   * Resolves all pending instants on wall clocks again if the runtime's zone data is not the one the store was last used
   * with; null if it is. Doing it twice changes nothing, so a process may die half-way.
   */
  async #reviewZones(): Promise<{ from: string; to: string; moved: number } | null> {
    const { store, zoneData: to } = this.#options
    const from = await store.getMeta(ZONE_DATA_META)
    if (from === to) return null
    const moved = await reviewAll(this.#options, { zoned: true })
    await store.putMeta(ZONE_DATA_META, to)
    return from === null ? null : { from, to, moved }
  }
}

/** Resolves the pending instants of alarms that name an edited calendar; returns how many moved. */
export async function reviewCalendar(options: ReviewOptions, edited: EditedCalendar): Promise<number> {
  const moved = await reviewAll(options, { calendarsOf: edited.tenant })
  // Recorded last: if this process dies before, the next one that starts finishes the review.
  await options.store.calendarReviewed(edited.tenant, edited)
  return moved
}

async function reviewAll(
  { store, context, observer }: ReviewOptions,
  which: { calendarsOf: string } | { zoned: true },
): Promise<number> {
  let moved = 0
  for (let after: Serial | null = 0; after !== null; ) {
    const now = context()
    const page = { ...which, after, limit: REVIEWED_MAX }
    const reviewed: ReviewResult = await store
      .review(page, (snapshot) => review(snapshot, now), now)
      .catch((thrown: unknown) => reportAndRethrow(observer, 'review', thrown))
    moved += reviewed.changed
    after = reviewed.next
  }
  return moved
}
