import type { Clock } from '../time/index.ts'

/**
 * No sleep is longer, so that a jump of the wall clock, or a suspended machine, is noticed soon; on a clock that tells
 * of its steps, only that something has to end a sleep some day.
 */
const SLICE_MS = 1_000
const SLICE_MS_TOLD = 86_400_000

/** What the loop sleeps on: a moment of the wall clock, or being roused. */
export class LoopSleeper {
  readonly #clock: Clock
  #rouse: (() => void) | null = null
  #roused = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends the present sleep, or the next one before it starts. */
  wake(): void {
    this.#roused = true
    this.#rouse?.()
  }

  /** Sleeps, whatever came before: it is seen to afterwards. */
  rest(until: number): Promise<void> {
    this.#roused = false
    return this.sleep(until)
  }

  /** Sleeps until the wall clock reads this, at most one slice; answers at once when roused. */
  async sleep(until: number | null): Promise<void> {
    if (!this.#roused) {
      const slice = this.#clock.onStep === undefined ? SLICE_MS : SLICE_MS_TOLD
      const left = until === null ? slice : Math.min(slice, until - this.#clock.now())
      // Timers are late by up to a millisecond more than asked: the last one is passed turn by turn.
      if (left > 0 && left <= 1) await this.#clock.turn()
      else if (left > 0) await this.#wait(left - 1)
    }
    this.#roused = false
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#rouse = null
        cancel()
        unwatch?.()
        resolve()
      }
      const cancel = this.#clock.setTimer(ms, end)
      const unwatch = this.#clock.onStep?.(end)
      this.#rouse = end
    })
  }
}
