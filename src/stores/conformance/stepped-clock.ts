import type { Clock } from '../../time/index.ts'

/** A clock that moves when a case says so. Nothing waits on it: stores only read it, for their leases. */
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
    throw new Error('a store waits by itself: only the engine sets timers')
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Lets time pass. */
  step(ms: number): void {
    this.#now += ms
    this.#monotonic += ms
  }
}
