import type { Clock } from './clock.ts'

/** Calendar positions that all searches have visited so far. Only differences matter: the cost of one search. */
let total = 0

/** Adds to the work of the current searches: 1 for each year, month, week or day visited, more for costlier ones. */
export function recordSearchWork(amount: number): void {
  total += amount
}

/**
 * Starts to measure search work; the returned function gives the amount since. Searches stop at a limit of work and not
 * of time: the same search costs the same on every machine, so a rule means the same everywhere.
 */
export function measureSearchWork(): () => number {
  const start = total
  return () => total - start
}

/** Search work after which the event loop gets a turn, however few the items were: tens of milliseconds. */
const WORK_PER_TURN = 50_000

/** Gives the event loop a turn now and then while one call works through many items. */
export class Yielder {
  readonly #clock: Clock
  readonly #itemsPerTurn: number
  #items = 0
  #work = measureSearchWork()

  constructor(clock: Clock, itemsPerTurn: number) {
    this.#clock = clock
    this.#itemsPerTurn = itemsPerTurn
  }

  /** Call and await this after each item. */
  async afterItem(): Promise<void> {
    this.#items += 1
    if (this.#items < this.#itemsPerTurn && this.#work() < WORK_PER_TURN) return
    // A virtual clock does not turn until the test advances it.
    if (this.#clock.hold === undefined) await this.#clock.turn()
    this.#items = 0
    this.#work = measureSearchWork()
  }
}
