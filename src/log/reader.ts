import type { Scope, Serial } from '../alarm/index.ts'
import { isCut, type LogEvent, type Store } from '../stores/index.ts'
import type { LogNotifier } from './log-notifier.ts'

const PAGE = 500
/** Smaller, because followers are many and some are slow: each keeps a page in memory. */
const FOLLOWED_PAGE = 100

/** How to read the log. */
export interface ReadOptions {
  readonly after: Serial
  readonly follow: boolean
  readonly alarmId?: string
  readonly signal?: AbortSignal
  /** Throws if retention has deleted events after this cursor. Called once the first page is read, so that none is deleted in between. */
  readonly assertWhole?: () => Promise<void>
}

/** Reads the log after a position, and with `follow` also what is appended later. */
export async function* readLog(
  store: Store,
  scope: Scope,
  notifier: LogNotifier,
  options: ReadOptions,
): AsyncGenerator<LogEvent> {
  let after = options.after
  const limit = options.follow ? FOLLOWED_PAGE : PAGE
  for (;;) {
    if (options.signal?.aborted || notifier.isClosed) return
    const notified = notifier.next(scope, options.signal)
    const query =
      options.alarmId === undefined ? { after, limit } : { after, limit, alarmId: options.alarmId }
    const page = await store.events(scope, query)
    if (after === options.after) await options.assertWhole?.()
    for (const event of page) {
      yield event
      after = event.seq
    }
    if (isCut(page, limit)) continue
    if (!options.follow) return
    await notified
  }
}
