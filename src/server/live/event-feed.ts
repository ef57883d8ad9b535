import type { EventsOptions, EventsPage, EventView } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import { type Across, readerOf } from '../calls/index.ts'
import type { EventReadLimiter } from '../limits/index.ts'

/** Which events are followed. */
export interface EventFeedOptions extends Omit<EventsOptions, 'follow' | 'until' | 'signal'>, Across {}

/** What an empty page of a filter counts as, so that a reader of a long log lets others read in between. */
const EMPTY_PAGE_BYTES = 64 * 1024

/** The event log from a cursor on. It is read only as fast as the events are consumed. */
export interface EventFeed {
  /** Every event up to here was consumed, or does not match. */
  readonly cursor: string | null
  /** The next event; null when the feed has ended. */
  next(): Promise<EventView | null>
  /** Ends it, also while `next` waits. */
  end(): void
}

/**
 * Follows the event log from a cursor on. Throws on one that is invalid or expired, before anything is answered. `onEnded`
 * is called when it ends, perhaps more than once.
 */
export async function openFeed(
  caller: Caller,
  { after, owner, tenant, ...filters }: EventFeedOptions,
  reads: EventReadLimiter,
  onEnded: () => void = () => {},
): Promise<EventFeed> {
  const { alarms } = readerOf(caller, { owner, tenant })
  const abort = new AbortController()
  const filter = { ...filters, signal: abort.signal }
  const start = after ?? (filters.since === undefined ? 'newest' : 'oldest')
  const from = start === 'newest' ? await alarms.newest() : start === 'oldest' ? undefined : start
  const past = alarms.eventPages({ ...filter, ...(from !== undefined && { after: from }) })
  const first = await reads.begin(caller, () => past.next())
  const passed = reads.reader(caller)
  let cursor = from ?? null
  const events = follow()
  return {
    get cursor() {
      return cursor
    },
    next: async () => (await events.next()).value ?? null,
    end: () => {
      abort.abort()
      onEnded()
      // Also where the generator is suspended between two events.
      events.return(undefined).catch(() => {})
    },
  }

  /** The events that are there, then those that come. */
  async function* follow(): AsyncGenerator<EventView, undefined> {
    if (first.done !== true) {
      yield* consumed(first.value)
      for await (const page of past) yield* consumed(page)
    }
    const next = cursor === null ? {} : { after: cursor }
    for await (const page of alarms.eventPages({ ...filter, ...next, follow: true })) yield* consumed(page)
  }

  async function* consumed({ items, nextCursor }: EventsPage): AsyncGenerator<EventView> {
    for (const event of items) {
      yield event
      await passed(event.dataJson.length)
      // Not before: a reader that resumes from this cursor has received the event.
      cursor = event.cursor
    }
    if (items.length === 0) await passed(EMPTY_PAGE_BYTES)
    cursor = nextCursor
  }
}
