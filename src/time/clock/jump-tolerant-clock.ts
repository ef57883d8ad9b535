import { DAY_MS } from '../durations/index.ts'
import { formatInstant } from '../zones/index.ts'
import type { Clock } from './clock.ts'

/** A larger step of the wall clock is distrusted. */
const STEP_MS_MAX = 365 * DAY_MS
/** How far a clock may be ahead of the store's newest record at start: the store may have been idle for years. */
const IDLE_MS_MAX = 3650 * DAY_MS
/** A clock without a battery starts long before this; any step from there is toward the truth. */
const PLAUSIBLE_MIN = Date.UTC(2020, 0, 1)
const REPORT_EVERY_MS = 3_600_000

/** Called with a message when the wall clock is distrusted, or trusted again. */
export type OnTrustChange = (message: string) => void

/**
 * A clock that distrusts large jumps. Steps of hours and days are followed, because operators and NTP make them. A step
 * of more than a year in either direction is treated as a fault: time continues from the last trusted reading, by the
 * monotonic clock, until the wall clock is back within a year of it. Alarms are then late at worst; none fires years
 * early, and none is written off as missed.
 */
export class JumpTolerantClock implements Clock {
  readonly #clock: Clock
  readonly #onTrustChange: OnTrustChange
  readonly onStep?: NonNullable<Clock['onStep']>
  readonly hold?: NonNullable<Clock['hold']>
  #wall: number
  #monotonic: number
  /** When distrust was last reported, on the monotonic clock; null while the wall clock is trusted. */
  #reportedAt: number | null = null

  constructor(clock: Clock, onTrustChange: OnTrustChange) {
    this.#clock = clock
    this.#onTrustChange = onTrustChange
    this.#wall = clock.now()
    this.#monotonic = clock.monotonic()
    if (clock.onStep !== undefined) this.onStep = (listener) => clock.onStep!(listener)
    if (clock.hold !== undefined) this.hold = (work) => clock.hold!(work)
  }

  now(): number {
    const wall = this.#clock.now()
    const monotonic = this.#clock.monotonic()
    const expected = Math.floor(this.#wall + monotonic - this.#monotonic)
    if (Math.abs(wall - expected) > STEP_MS_MAX && this.#wall >= PLAUSIBLE_MIN) {
      this.#distrust(wall, expected, monotonic)
      return expected
    }
    if (this.#reportedAt !== null) {
      this.#reportedAt = null
      this.#onTrustChange(`the wall clock is trusted again: it reads ${formatInstant(wall)}`)
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
   * Compares the clock with the newest instant in a store. A clock a year behind it, or ten years ahead of it, is
   * distrusted: time continues from that instant.
   */
  checkAgainst(lastSeen: number | null): void {
    if (lastSeen === null) return
    const ahead = this.#clock.now() - lastSeen
    if (ahead >= -STEP_MS_MAX && ahead <= IDLE_MS_MAX) return
    this.#wall = lastSeen
    this.#monotonic = this.#clock.monotonic()
    this.now()
  }

  #distrust(wall: number, expected: number, monotonic: number): void {
    if (this.#reportedAt !== null && monotonic - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = monotonic
    const [wallText, expectedText] = [formatWallTime(wall), formatInstant(expected)]
    this.#onTrustChange(
      `the wall clock reads ${wallText}, more than a year from the expected ${expectedText}: it is not trusted, and time continues from the expected one until the clock is corrected (to use it as it is, open again with trustClock: true)`,
    )
  }
}

/** A wall time that may be outside the range of dates. */
function formatWallTime(wall: number): string {
  try {
    return formatInstant(wall)
  } catch {
    return `${wall} ms since 1970`
  }
}
