import type { Clock } from '../../time/index.ts'

/** A clock that a case advances. Stores only read it, for their leases; nothing waits on it. */
export class SteppedClock implements Clock {
  #now = Date.UTC(2030, 0, 1)
  #monotonic = 0

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimer(): () => void {
    throw new Error('a store does not set timers; only the engine does')
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Advances the time. */
  step(ms: number): void {
    this.#now += ms
    this.#monotonic += ms
  }
}
