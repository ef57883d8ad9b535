import type { Clock } from './clock.ts'
import { measureSearchWork } from './search-budget.ts'

/** Work on rules after which others get their turn, however few the items were: some tens of milliseconds. */
const WORK_PER_TURN = 50_000

/** Lets others have their turn of the event loop while one call works through many items. */
export class Yielder {
  readonly #clock: Clock
  readonly #itemsPerTurn: number
  #items = 0
  #work = measureSearchWork()

  constructor(clock: Clock, itemsPerTurn: number) {
    this.#clock = clock
    this.#itemsPerTurn = itemsPerTurn
  }

  /** To be awaited after each item. */
  async afterItem(): Promise<void> {
    this.#items += 1
    if (this.#items < this.#itemsPerTurn && this.#work() < WORK_PER_TURN) return
    // On a clock that passes by itself only, a turn may last until somebody lets time pass.
    if (this.#clock.hold === undefined) await this.#clock.turn()
    this.#items = 0
    this.#work = measureSearchWork()
  }
}
