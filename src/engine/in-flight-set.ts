import type { Serial } from '../alarm/index.ts'
import type { InFlightTimers } from '../stores/index.ts'

/**
 * The timers this engine has in flight: claimed and not yet known to be settled. One is forgotten only after a claim that
 * started after its settle had been confirmed: a claim that is running may have read the row before, and it would fire twice.
 */
export class InFlightSet implements InFlightTimers {
  readonly #versions = new Map<Serial, number>()
  #settled: { readonly id: Serial; readonly version: number; readonly atClaim: number }[] = []
  #claims = 0

  get size(): number {
    return this.#versions.size
  }

  has(id: Serial, version: number): boolean {
    return this.#versions.get(id) === version
  }

  add(id: Serial, version: number): void {
    this.#versions.set(id, version)
  }

  /** Records that a claim starts; its answer is passed to `claimEnded`. */
  claimStarted(): number {
    this.#claims += 1
    return this.#claims
  }

  claimEnded(claim: number): void {
    // They are in order, so those to forget come first.
    const kept = this.#settled.findIndex(({ atClaim }) => atClaim >= claim)
    const forgotten = kept === -1 ? this.#settled : this.#settled.slice(0, kept)
    for (const { id, version } of forgotten) if (this.has(id, version)) this.#versions.delete(id)
    this.#settled = kept === -1 ? [] : this.#settled.slice(kept)
  }

  /** Records that a settle was confirmed. */
  settled(id: Serial, version: number): void {
    this.#settled.push({ id, version, atClaim: this.#claims })
  }
}
