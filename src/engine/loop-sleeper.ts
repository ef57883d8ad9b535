import type { Clock } from '../time/index.ts'

/**
 * The longest sleep. A second, so that a jump of the wall clock, or a suspended machine, is noticed soon; on a clock that
 * reports its steps, a day.
 */
const SLEEP_MS_MAX = 1_000
const SLEEP_MS_MAX_WITH_STEPS = 86_400_000

/** What the loop sleeps on: until a time of the wall clock, or until it is woken. */
export class LoopSleeper {
  readonly #clock: Clock
  #end: (() => void) | null = null
  #isWoken = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends the present sleep, or the next one before it starts. */
  wake(): void {
    this.#isWoken = true
    this.#end?.()
  }

  /** Sleeps even if it was woken before. */
  rest(until: number): Promise<void> {
    this.#isWoken = false
    return this.sleep(until)
  }

  /** Sleeps until the wall clock reads this, at most `SLEEP_MS_MAX`; answers at once when woken. */
  async sleep(until: number | null): Promise<void> {
    if (!this.#isWoken) {
      const most = this.#clock.onStep === undefined ? SLEEP_MS_MAX : SLEEP_MS_MAX_WITH_STEPS
      const left = until === null ? most : Math.min(most, until - this.#clock.now())
      // Timers can be late by a millisecond, so the last one is passed turn by turn.
      if (left > 0 && left <= 1) await this.#clock.turn()
      else if (left > 0) await this.#wait(left - 1)
    }
    this.#isWoken = false
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#end = null
        cancel()
        unwatch?.()
        resolve()
      }
      const cancel = this.#clock.setTimer(ms, end)
      const unwatch = this.#clock.onStep?.(end)
      this.#end = end
    })
  }
}
