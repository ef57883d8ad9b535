import { DatabaseClock } from '../../../src/stores/sharded/database-clock.ts'
import type { Clock } from '../../../src/time/index.ts'

/** After so many beats that were not answered, a measurement is asked for. */
const BEATS = 1.25

/**
 * The database's clock as a process knows it, which tells of every measurement that moves it. Who sleeps by it need not
 * look once a second: days of virtual time pass in a few steps.
 */
export class ToldClock implements Clock {
  readonly #known: DatabaseClock
  readonly #host: Clock
  readonly #listeners = new Set<() => void>()
  #sampledAt = Number.NEGATIVE_INFINITY

  /** Beats measure it too: where they come seldom, so that years pass quickly, nothing more is asked between them. */
  constructor(host: Clock, resample: () => void, beatMs: number) {
    this.#host = host
    this.#known = new DatabaseClock(host, () => {
      if (host.monotonic() - this.#sampledAt > BEATS * beatMs) resample()
    })
  }

  now(): number {
    return this.#known.now()
  }

  monotonic(): number {
    return this.#host.monotonic()
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    return this.#host.setTimer(delayMs, fire)
  }

  turn(): Promise<void> {
    return this.#host.turn()
  }

  onStep(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Asks for a measurement where the last one is not fresh. */
  refresh(): void {
    this.#known.refresh()
  }

  /** Takes in what the database's clock read at some moment between these two of the monotonic clock. */
  sample(databaseNow: number, sentAt: number, answeredAt: number): void {
    this.#sampledAt = answeredAt
    const before = this.#known.now()
    this.#known.sample(databaseNow, sentAt, answeredAt)
    if (this.#known.now() !== before) for (const listener of [...this.#listeners]) listener()
  }
}
