import type { Serial } from '../alarm/index.ts'
import type { InFlightTimers } from '../stores/index.ts'

/**
 * The timers this engine holds: taken and not yet known to be settled. One is forgotten only after a take that started
 * after its settle had answered: a take under way may still bring it from before (hazard 3: it would fire twice).
 */
export class InFlightSet implements InFlightTimers {
  readonly #versions = new Map<Serial, number>()
  #settled: { readonly id: Serial; readonly version: number; readonly atTake: number }[] = []
  #takes = 0

  get size(): number {
    return this.#versions.size
  }

  has(id: Serial, version: number): boolean {
    return this.#versions.get(id) === version
  }

  add(id: Serial, version: number): void {
    this.#versions.set(id, version)
  }

  /** Notes that a take starts; its answer is given to `takeEnded`. */
  takeStarted(): number {
    this.#takes += 1
    return this.#takes
  }

  takeEnded(take: number): void {
    // In the order in which they were noted, so that those to forget stand first.
    const kept = this.#settled.findIndex(({ atTake }) => atTake >= take)
    const forgotten = kept === -1 ? this.#settled : this.#settled.slice(0, kept)
    for (const { id, version } of forgotten) if (this.has(id, version)) this.#versions.delete(id)
    this.#settled = kept === -1 ? [] : this.#settled.slice(kept)
  }

  /** Notes that a settle has answered. */
  settled(id: Serial, version: number): void {
    this.#settled.push({ id, version, atTake: this.#takes })
  }
}
