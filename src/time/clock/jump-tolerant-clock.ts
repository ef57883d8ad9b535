import { formatInstant } from '../zones/index.ts'
import type { Clock } from './clock.ts'

const DAY_MS = 86_400_000
/** A step of the wall clock by more than this is not believed. */
const STEP_MS_MAX = 365 * DAY_MS
/** A clock at start may be this far ahead of the last moment the store knows: it may have lain idle for years. */
const IDLE_MS_MAX = 3650 * DAY_MS
/** Clocks without a battery start long before this: whatever follows is nearer the truth. */
const PLAUSIBLE_MIN = Date.UTC(2020, 0, 1)
const REMIND_MS = 3_600_000

/** Told, in words, that the wall clock is not believed any more, or again. */
export type OnTrustChange = (message: string) => void

/**
 * A clock that does not believe every wall time. Steps of hours and days are followed: operators and NTP make them. A
 * step of more than a year, either way, is taken for a fault: time goes on from the last reading that was believed, by
 * the monotonic clock, until the wall clock is back within a year of it. Alarms then come late at worst, never years
 * early, and none is written off as missed.
 */
export class JumpTolerantClock implements Clock {
  readonly #clock: Clock
  readonly #onDoubt: OnTrustChange
  readonly onStep?: NonNullable<Clock['onStep']>
  readonly hold?: NonNullable<Clock['hold']>
  #wall: number
  #monotonic: number
  /** When the doubt was last spoken of, on the monotonic clock; null while the wall clock is believed. */
  #remindedAt: number | null = null

  constructor(clock: Clock, onDoubt: OnTrustChange) {
    this.#clock = clock
    this.#onDoubt = onDoubt
    this.#wall = clock.now()
    this.#monotonic = clock.monotonic()
    if (clock.onStep !== undefined) this.onStep = (listener) => clock.onStep!(listener)
    if (clock.hold !== undefined) this.hold = (work) => clock.hold!(work)
  }

  /** Whether the wall clock is not believed at present. */
  get isDistrusted(): boolean {
    this.now()
    return this.#remindedAt !== null
  }

  now(): number {
    const wall = this.#clock.now()
    const monotonic = this.#clock.monotonic()
    const reckoned = Math.floor(this.#wall + monotonic - this.#monotonic)
    if (Math.abs(wall - reckoned) > STEP_MS_MAX && this.#wall >= PLAUSIBLE_MIN) {
      this.#doubt(wall, reckoned, monotonic)
      return reckoned
    }
    if (this.#remindedAt !== null) {
      this.#remindedAt = null
      this.#onDoubt(`the wall clock is believed again: it reads ${formatInstant(wall)}`)
    }
    this.#wall = wall
    this.#monotonic = monotonic
    return wall
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    return this.#clock.setTimer(delayMs, fire)
  }

  turn(): Promise<void> {
    return this.#clock.turn()
  }

  /**
   * Compares with the newest moment a store has a record of. A clock a year behind it, or ten years ahead of it, is not
   * believed: time goes on from that moment.
   */
  checkAgainst(lastSeen: number | null): void {
    if (lastSeen === null) return
    const ahead = this.#clock.now() - lastSeen
    if (ahead >= -STEP_MS_MAX && ahead <= IDLE_MS_MAX) return
    this.#wall = lastSeen
    this.#monotonic = this.#clock.monotonic()
    this.now()
  }

  #doubt(wall: number, reckoned: number, monotonic: number): void {
    if (this.#remindedAt !== null && monotonic - this.#remindedAt < REMIND_MS) return
    this.#remindedAt = monotonic
    const [says, goes] = [formatWallTime(wall), formatInstant(reckoned)]
    this.#onDoubt(
      `the wall clock says ${says}, more than a year from ${goes}, which it should be: not believed, time goes on from there until the clock is set right (to take it as it is, open again with trustClock: true)`,
    )
  }
}

/** A wall time that may lie beyond what can be written as an instant. */
function formatWallTime(wall: number): string {
  try {
    return formatInstant(wall)
  } catch {
    return `${wall} ms since 1970`
  }
}
