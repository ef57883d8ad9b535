import { type Context, review, type Serial } from '../alarm/index.ts'
import { type Observer, watched } from '../engine/index.ts'
import { type EditedCalendar, type ReviewResult, type Store, ZONE_DATA_META } from '../stores/index.ts'

/** What a review needs: the store, and the moment. */
export interface ReviewOptions {
  readonly store: Store
  readonly observer: Observer | undefined
  readonly context: () => Context
}

/** Alarms looked at in one transaction, so that others get their turn at the write lock. */
const CHUNK = 500

/** Resolves the pending instants of alarms that name an edited calendar; answers how many moved. */
export async function reviewCalendar(options: ReviewOptions, edited: EditedCalendar): Promise<number> {
  const moved = await reviewThrough(options, { calendarsOf: edited.tenant })
  // Said last: a process that dies before this leaves the rest to the next that starts.
  await options.store.calendarReviewed(edited.tenant, edited)
  return moved
}

/** Catches up on edited calendars that a process died over. */
async function reviewCalendars(options: ReviewOptions): Promise<void> {
  for (const edited of await options.store.unreviewedCalendars()) await reviewCalendar(options, edited)
}

/** What a change of the zones' data came to. */
interface ZoneReview {
  readonly from: string
  readonly to: string
  readonly moved: number
}

/**
 * Resolves all pending instants on wall clocks again where the runtime's zone data is another than the store was last
 * used with; null where it is the same. Doing it twice changes nothing, so that dying half-way costs nothing.
 */
async function reviewZones(options: ReviewOptions, zoneData: string): Promise<ZoneReview | null> {
  const { store } = options
  const from = await store.getMeta(ZONE_DATA_META)
  if (from === zoneData) return null
  const moved = await reviewThrough(options, { zoned: true })
  await store.putMeta(ZONE_DATA_META, zoneData)
  return from === null ? null : { from, to: zoneData, moved }
}

async function reviewThrough(
  { store, context, observer }: ReviewOptions,
  which: { calendarsOf: string } | { zoned: true },
): Promise<number> {
  let moved = 0
  for (let after: Serial | null = 0; after !== null; ) {
    const around = context()
    const page = { ...which, after, limit: CHUNK }
    const reviewed: ReviewResult = await watched(
      observer,
      'review',
      store.review(page, (snapshot) => review(snapshot, around), around),
    )
    moved += reviewed.changed
    after = reviewed.next
  }
  return moved
}

/** Sees to it, before anything fires, that pending instants stand by today's calendars and zone data. */
export async function reviewStore(
  options: ReviewOptions & { readonly zoneData: string; readonly onTrouble: (thrown: unknown) => void },
): Promise<void> {
  const zones = await reviewZones(options, options.zoneData)
  await reviewCalendars(options)
  if (zones === null || zones.moved === 0) return
  const { from, to, moved } = zones
  options.onTrouble(
    new Error(
      `the zone data is ${to} and was ${from}: ${moved} pending alarms moved with it (alarm.rescheduled in the log)`,
    ),
  )
}
