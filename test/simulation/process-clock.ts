import type { Clock } from '../../src/time/index.ts'
import type { Random } from '../random.ts'
import type { Participant, Timeline } from './timeline.ts'

/** How a process's clocks differ from true time. */
export interface Skew {
  /** How far its wall clock is ahead. */
  readonly offsetMs: number
  /** How much faster both its clocks run: 0.0005 gains half a millisecond per second. */
  readonly drift: number
}

/** A timer fires up to this much late, as in Node. */
const TIMER_LATE_MS_MAX = 1
/** The duration of a turn of the event loop. */
export const TURN_MS = 0.25

/** The clocks of one process. */
export class ProcessClock implements Clock {
  readonly #timeline: Timeline
  readonly #participant: Participant
  readonly #random: Random
  readonly #rate: number
  readonly #bornAt: number
  readonly #listeners = new Set<() => void>()
  /** What the wall clock read when the process started, plus all steps since. */
  #wall: number

  constructor(timeline: Timeline, participant: Participant, random: Random, wallNow: number, skew: Skew) {
    this.#timeline = timeline
    this.#participant = participant
    this.#random = random
    this.#rate = 1 + skew.drift
    this.#bornAt = timeline.now
    this.#wall = wallNow + skew.offsetMs
  }

  now(): number {
    return Math.floor(this.#wall + this.monotonic())
  }

  monotonic(): number {
    return (this.#timeline.now - this.#bornAt) * this.#rate
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    const lateMs = this.#random.next() * TIMER_LATE_MS_MAX
    return this.#timeline.in(Math.max(0, delayMs) / this.#rate + lateMs, this.#participant, fire)
  }

  turn(): Promise<void> {
    return new Promise((resolve) => void this.#timeline.in(TURN_MS, this.#participant, resolve))
  }

  onStep(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sets the wall clock forward or back. */
  step(ms: number): void {
    this.#wall += ms
    for (const listener of [...this.#listeners]) listener()
  }
}
