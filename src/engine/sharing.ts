import type { Claimed } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { DeliveryPool } from './delivery-pool.ts'
import { NOBODY } from './shares.ts'

/** It is not asked again in every turn of the loop; where there is nobody else at all, less and less often. */
const LOOK_AGAIN_MS = 20
const LOOK_AGAIN_MS_MAX = 500
/** Others who are due within this time have the batches kept short: they wait for each to end. */
const SOON_MS = 1_000

/** When to look for what other tenants are due, while one has all the hands. */
export class Sharing {
  readonly #crew: DeliveryPool
  readonly #clock: Clock
  /** The next wake of tenants that are not crowding. */
  #nextWakeAt: number | null = null
  /** On the monotonic clock: before this it is not looked again. */
  #from = 0
  #againMs = LOOK_AGAIN_MS
  /** Who had most of the last batch, where more is due: however short its deliveries, others wait behind all of it. */
  #backlogged: ReadonlySet<string> = NOBODY

  constructor(crew: DeliveryPool, clock: Clock) {
    this.#crew = crew
    this.#clock = clock
  }

  /** Tenants whom others must not wait for: they have all the hands, or everything that is taken is theirs. */
  get crowding(): ReadonlySet<string> {
    return this.#backlogged.size === 0 ? this.#crew.crowding : this.#crew.crowding.union(this.#backlogged)
  }

  /** Whether a tenant crowds others out, and some hands are kept for these. */
  get isOn(): boolean {
    return this.crowding.size > 0 && this.#crew.spare > 0
  }

  /** How many more to take: no more than there are hands while others come due beside a crowd. */
  room(batchMax: number): number {
    const next = this.nextLookAt
    const isShort = next !== null && next <= this.#clock.now() + SOON_MS
    return this.#crew.room(isShort ? Math.min(batchMax, this.#crew.concurrency) : batchMax)
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
    this.#againMs = LOOK_AGAIN_MS
  }

  /** Notes whose the batch was that was taken from everybody. */
  took({ timers: takings, more }: Claimed): void {
    this.#backlogged = more ? mostOf(takings.map(({ alarm }) => alarm.tenant)) : NOBODY
  }

  /** Notes what a look has brought. What is due and cannot be had now is asked for a little later. */
  looked({ timers: takings, nextWakeAt }: Claimed): void {
    const now = this.#clock.now()
    const isStuck = takings.length === 0 && nextWakeAt !== null && nextWakeAt <= now
    this.#nextWakeAt = isStuck ? now + LOOK_AGAIN_MS : nextWakeAt
    const isAlone = takings.length === 0 && nextWakeAt === null
    this.#againMs = isAlone ? Math.min(2 * this.#againMs, LOOK_AGAIN_MS_MAX) : LOOK_AGAIN_MS
    this.#from = this.#clock.monotonic() + this.#againMs
  }
}

/** Who is more than half of these. */
function mostOf(tenants: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const tenant of tenants) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  for (const [tenant, count] of counts) if (2 * count > tenants.length) return new Set([tenant])
  return NOBODY
}
