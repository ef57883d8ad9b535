import type { Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** How long ended alarms are kept, with their events. */
export interface RetentionOptions {
  readonly store: Store
  readonly clock: Clock
  /** Null keeps them for ever. */
  readonly keepMs: number | null
  readonly onTrouble: (thrown: unknown) => void
}

const EVERY_MS = 60_000
const BATCH = 200

/** Deletes what ended long ago, in small batches. Nothing else is ever deleted. */
export class Retention {
  readonly #options: RetentionOptions
  #cancel: (() => void) | null = null

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#options.keepMs === null || this.#cancel !== null) return
    this.#schedule(EVERY_MS)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #schedule(delayMs: number): void {
    this.#cancel = this.#options.clock.setTimer(delayMs, () => void this.#run())
  }

  async #run(): Promise<void> {
    const { store, clock, keepMs, onTrouble } = this.#options
    let pruned = 0
    try {
      pruned = await store.prune(clock.now() - (keepMs ?? 0), BATCH)
    } catch (thrown) {
      onTrouble(thrown)
    }
    if (this.#cancel !== null) this.#schedule(pruned === BATCH ? 50 : EVERY_MS)
  }
}
