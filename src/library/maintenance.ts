import { type Observer, watched } from '../engine/index.ts'
import type { Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** What is seen to in the background. */
export interface UpkeepOptions {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer | undefined
  /** How long ended alarms are kept, with their events; null keeps them for ever. */
  readonly keepMs: number | null
  /** How often it is seen to; a minute where nothing is said. */
  readonly everyMs?: number
  /** Resolves again what is pending, where another process began to and died. */
  readonly review: () => Promise<void>
  readonly onTrouble: (thrown: unknown) => void
}

const EVERY_MS = 60_000
const BATCH = 200

/** Every minute, or as often as asked: deletes what ended long ago, in small batches (nothing else is ever deleted), and reviews. */
export class Upkeep {
  readonly #options: UpkeepOptions
  #cancel: (() => void) | null = null

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#cancel !== null) return
    this.#schedule(this.#everyMs)
  }

  get #everyMs(): number {
    return this.#options.everyMs ?? EVERY_MS
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #schedule(delayMs: number): void {
    this.#cancel = this.#options.clock.setTimer(delayMs, () => void this.#run())
  }

  async #run(): Promise<void> {
    const { store, clock, observer, keepMs, review, onTrouble } = this.#options
    let pruned = 0
    try {
      if (keepMs !== null) pruned = await watched(observer, 'prune', store.prune(clock.now() - keepMs, BATCH))
      if (pruned < BATCH) await review()
    } catch (thrown) {
      onTrouble(thrown)
    }
    if (this.#cancel !== null) this.#schedule(pruned === BATCH ? 50 : this.#everyMs)
  }
}
