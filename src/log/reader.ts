import { type ReadScope, type Serial, serialOf } from '../alarm/index.ts'
import type { EventFilter, EventPage, Store } from '../stores/index.ts'
import type { LogNotifier } from './log-notifier.ts'

const PAGE = 500
/** Smaller, because followers are many and some are slow: each keeps a page in memory. */
const FOLLOWED_PAGE = 100

/** How to read the log. */
export interface ReadOptions {
  readonly after: Serial
  /** Where to stop; null reads to the end. */
  readonly upTo: Serial | null
  readonly follow: boolean
  readonly alarmId?: string
  readonly filter?: EventFilter
  readonly signal?: AbortSignal
  /** Throws if retention has deleted events after this cursor. Called once the first page is read, so that none is deleted in between. */
  readonly assertWhole?: () => Promise<void>
}

/** Reads the log after a position in pages, and with `follow` also what is appended later. */
export async function* readLog(
  store: Store,
  scope: ReadScope,
  notifier: LogNotifier,
  options: ReadOptions,
): AsyncGenerator<EventPage> {
  const { alarmId, filter, upTo, follow, signal } = options
  const limit = follow ? FOLLOWED_PAGE : PAGE
  const about = { ...(alarmId !== undefined && { alarmId }), ...(filter !== undefined && { filter }) }
  for (let { after } = options, isFirst = true; ; isFirst = false) {
    if (signal?.aborted || notifier.isClosed) return
    const notified = notifier.next(scope, signal)
    const page = await store.events(scope, { after, limit, ...about })
    if (isFirst) await options.assertWhole?.()
    yield page
    after = page.next
    if (upTo !== null && after >= upTo) return
    if (page.more) continue
    if (!follow) return
    await notified
  }
}

/** The log is in the order of commits, which is that of time but for this much. */
const DISORDER_MS = 60_000

/** Where to read for a filter by time: the position is found by halving, so that the rest of a long log is not read. */
export async function rangeOf(
  store: Store,
  after: Serial,
  { since, until }: EventFilter = {},
): Promise<Pick<ReadOptions, 'after' | 'upTo'>> {
  const from = since === undefined ? 0 : await positionAt(store, since - DISORDER_MS)
  const upTo = until === undefined ? null : await positionAt(store, until + DISORDER_MS)
  return { after: from > after ? from : after, upTo }
}

/** The position after which events are at or after an instant. */
async function positionAt(store: Store, at: number): Promise<Serial> {
  let low = 0n
  let high = BigInt(await store.lastEvent())
  while (low < high) {
    const middle = (low + high) / 2n
    const next = await store.firstEventAfter(serialOf(String(middle)))
    if (next === null || next.at >= at) high = middle
    else low = BigInt(next.seq)
  }
  return serialOf(String(low))
}
