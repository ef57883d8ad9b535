import type { Scope, Serial } from '../alarm/index.ts'
import { isCut, type LogEvent, type Store } from '../stores/index.ts'
import type { LogNotifier } from './log-notifier.ts'

const PAGE = 500
/** Followers are many and some are slow: what each holds in memory is less. */
const FOLLOWED_PAGE = 100

/** How to read the log. */
export interface ReadOptions {
  readonly after: Serial
  readonly follow: boolean
  readonly alarmId?: string
  readonly signal?: AbortSignal
  /** Refuses where retention has taken events from behind the place: asked when the first page is read, so that none goes in between. */
  readonly assertWhole?: () => Promise<void>
}

/** Reads the log from a place on, and goes on with what is appended later where that is asked. */
export async function* readLog(
  store: Store,
  scope: Scope,
  bell: LogNotifier,
  options: ReadOptions,
): AsyncGenerator<LogEvent> {
  let after = options.after
  const limit = options.follow ? FOLLOWED_PAGE : PAGE
  for (;;) {
    if (options.signal?.aborted || bell.isClosed) return
    const rung = bell.next(scope, options.signal)
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
    await rung
  }
}
