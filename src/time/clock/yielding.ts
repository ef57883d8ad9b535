import type { Clock } from './clock.ts'
import { measureSearchWork } from './search-budget.ts'

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
