import type { Taken } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { Crew } from './crew.ts'

/** Mostly there is nobody else: then it is not asked again in every turn of the loop. */
const LOOK_AGAIN_MS = 20

/** When to look for what other tenants are due, while one has all the hands. */
export class Sharing {
  readonly #crew: Crew
  readonly #clock: Clock
  /** The next wake of tenants that are not crowding. */
  #nextWakeAt: number | null = null
  /** On the monotonic clock: before this it is not looked again. */
  #from = 0

  constructor(crew: Crew, clock: Clock) {
    this.#crew = crew
    this.#clock = clock
  }

  /** Whether a tenant has all the hands, and some are kept for others. */
  get isOn(): boolean {
    return this.#crew.crowding.size > 0 && this.#crew.spare > 0
  }

  /** Whether it is time to look. */
  get isDue(): boolean {
    if (!this.isOn) return false
    if (this.#nextWakeAt !== null && this.#clock.now() >= this.#nextWakeAt) return true
    return this.#clock.monotonic() >= this.#from
  }

  /** When to look again, on the wall clock; null where nobody waits. */
  get nextLookAt(): number | null {
    return this.isOn ? this.#nextWakeAt : null
  }

  /** Something may be due earlier than was known. */
  hint(): void {
    this.#from = 0
  }

  /** Notes what a look has brought. What is due and cannot be had now is asked for a little later. */
  looked({ takings, nextWakeAt }: Taken): void {
    const now = this.#clock.now()
    const isStuck = takings.length === 0 && nextWakeAt !== null && nextWakeAt <= now
    this.#nextWakeAt = isStuck ? now + LOOK_AGAIN_MS : nextWakeAt
    this.#from = this.#clock.monotonic() + LOOK_AGAIN_MS
  }
}
