import type { Clock } from '../time/index.ts'

/** When a circuit opens, and for how long. */
export interface CircuitSettings {
  /** This many failures in a row open it. */
  readonly failuresMax: number
  /** How long it stays open at first; twice as long after every probe that fails, up to the most. */
  readonly openMs: number
  readonly openMsMax: number
}

/** The wait of what is refused while a probe runs. */
const PROBING_MS = 1_000
/** Refused occurrences come back one after the other: ten thousand at one moment would cost as much as the calls. */
const APART_MS = 2
const APART_MS_MAX = 30_000

/**
 * A circuit breaker. Closed: every call goes. After `failuresMax` failures in a row it is open, and no call goes for a
 * while. Then one goes alone, as a probe, and its outcome closes the circuit or opens it again.
 */
export class Circuit {
  readonly #clock: Clock
  readonly #settings: CircuitSettings
  #failures = 0
  /** On the monotonic clock; null while it is closed. */
  #openUntil: number | null = null
  #openMs: number
  #isProbing = false
  #refused = 0

  constructor(clock: Clock, settings: CircuitSettings) {
    this.#clock = clock
    this.#settings = settings
    this.#openMs = settings.openMs
  }

  /** Whether the last call succeeded. */
  get isSound(): boolean {
    return this.#failures === 0 && this.#openUntil === null
  }

  get failures(): number {
    return this.#failures
  }

  /** How long to stay away; null where a call may go now. */
  refusal(): number | null {
    if (this.#openUntil === null) return null
    const leftMs = this.#openUntil - this.#clock.monotonic()
    if (leftMs <= 0 && !this.#isProbing) return null
    const apartMs = Math.min(APART_MS * this.#refused, APART_MS_MAX)
    this.#refused += 1
    return Math.max(leftMs, this.#isProbing ? PROBING_MS : 0) + apartMs
  }

  /** A call goes. While the circuit is open it is the probe, so that no other goes beside it. */
  begin(): void {
    if (this.#openUntil !== null) this.#isProbing = true
  }

  succeeded(): void {
    this.#failures = 0
    this.#openUntil = null
    this.#openMs = this.#settings.openMs
    this.#isProbing = false
    this.#refused = 0
  }

  failed(): void {
    this.#failures += 1
    const { failuresMax, openMsMax } = this.#settings
    if (this.#openUntil === null) {
      if (this.#failures >= failuresMax) this.#open()
    } else if (this.#isProbing) {
      this.#openMs = Math.min(2 * this.#openMs, openMsMax)
      this.#open()
    }
  }

  /** A call was broken off on our side: it says nothing about the endpoint, and another may be the probe. */
  abandoned(): void {
    this.#isProbing = false
  }

  #open(): void {
    this.#openUntil = this.#clock.monotonic() + this.#openMs
    this.#isProbing = false
    this.#refused = 0
  }
}
