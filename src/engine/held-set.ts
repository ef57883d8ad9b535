import type { HeldTimers } from '../stores/index.ts'

/**
 * The timers this engine holds: taken and not yet known to be settled. One is forgotten only after a take that started
 * after its settle had answered: a take under way may still bring it from before (hazard 3: it would fire twice).
 */
export class HeldSet implements HeldTimers {
  readonly #versions = new Map<number, number>()
  #settled: { readonly id: number; readonly version: number; readonly atTake: number }[] = []
  #takes = 0

  get size(): number {
    return this.#versions.size
  }

  has(id: number, version: number): boolean {
    return this.#versions.get(id) === version
  }

  add(id: number, version: number): void {
    this.#versions.set(id, version)
  }

  /** Notes that a take starts; its answer is given to `takeEnded`. */
  takeStarted(): number {
    this.#takes += 1
    return this.#takes
  }

  takeEnded(take: number): void {
    const forgotten = this.#settled.filter(({ atTake }) => atTake < take)
    if (forgotten.length === 0) return
    for (const { id, version } of forgotten) if (this.has(id, version)) this.#versions.delete(id)
    this.#settled = this.#settled.filter(({ atTake }) => atTake >= take)
  }

  /** Notes that a settle has answered. */
  settled(id: number, version: number): void {
    this.#settled.push({ id, version, atTake: this.#takes })
  }
}
