import type { Alarm, Serial, Timer } from '../alarm/index.ts'
import { type Claimed, ownerKey, type WaitingFilter } from '../stores/index.ts'

/** Beyond this many names, the one deferred longest ago is forgotten. */
const NAMES_MAX = 10_000

/**
 * Whose due timers a delivery limit or an operator's pause has deferred, and until when, as far as this process knows. They
 * are not late: nothing was slow. A timer that is deferred for another reason has `waiting`.
 */
export class Deferrals {
  readonly #until = new Map<string, number>()

  /** What is due of a tenant is deferred by its limit at this time. */
  tenant(tenant: string, now: number): void {
    this.#defer(`tenant ${tenant}`, now)
  }

  /** The same of an owner, by `ownerKey`. */
  owner(key: string, now: number): void {
    this.#defer(`owner ${key}`, now)
  }

  /** Timers were requeued that an operator's pause had deferred. */
  requeued(which: WaitingFilter, now: number): void {
    if ('pausedTenant' in which) this.tenant(which.pausedTenant, now)
    if ('pausedTarget' in which) this.#defer(`target ${which.pausedTarget}`, now)
  }

  /** Whether this timer was deferred when it was due. */
  has(alarm: Alarm, timer: Timer): boolean {
    if (this.#until.size === 0 || timer.wakeAt === null) return false
    const { tenant, target } = alarm
    const names = [`tenant ${tenant}`, `owner ${ownerKey(alarm)}`, `target ${target.name}`]
    return names.some((name) => (this.#until.get(name) ?? Number.NEGATIVE_INFINITY) >= timer.wakeAt!)
  }

  #defer(name: string, now: number): void {
    this.#until.delete(name)
    if (this.#until.size >= NAMES_MAX) this.#until.delete(this.#until.keys().next().value!)
    this.#until.set(name, now)
  }
}

/** The claim, with the timers marked that were deferred. */
export function withDeferred(claimed: Claimed, deferred: ReadonlySet<Serial>): Claimed {
  if (deferred.size === 0) return claimed
  const timers = claimed.timers.map((each) =>
    deferred.has(each.timer.id) ? { ...each, isDeferred: true } : each,
  )
  return { ...claimed, timers }
}
