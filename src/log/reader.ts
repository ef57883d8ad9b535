import type { Scope, Serial } from '../alarm/index.ts'
import { isCut, type LogEvent, type Store } from '../stores/index.ts'

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
  bell: Bell,
  options: ReadOptions,
): AsyncGenerator<LogEvent> {
  let after = options.after
  const limit = options.follow ? FOLLOWED_PAGE : PAGE
  for (;;) {
    if (options.signal?.aborted || bell.isClosed) return
    const rung = bell.next(options.signal)
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

/** Rung when the log may have grown; readers wait for the next ring. */
export class Bell {
  #waiting = new Set<() => void>()
  #closed = false

  get isClosed(): boolean {
    return this.#closed
  }

  /** Lets every reader end: nothing more will come. */
  close(): void {
    this.#closed = true
    this.ring()
  }

  ring(): void {
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  /** Resolves at the next ring, or when the signal is aborted. Asked for before the read, so that no ring is missed. */
  next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }
}
