import { WakefulError } from '../error.ts'
import { type Clock, formatInstant, type Moment, parseDuration, parseInstant } from '../time/index.ts'

/** An amount of virtual time: a duration such as `'3 days'`, or milliseconds. */
export type Stretch = string | number

interface Pending {
  readonly at: number
  readonly fire: () => void
}

/** A write takes two turns of the event loop. After this many turns without a call of the clock, work has settled. */
const IDLE_TURNS = 3
/** Work that never settles is an error: a million turns take seconds of real time. */
const TURNS_MAX = 1_000_000
const UNTIL_MAX = '30d'

/**
 * A clock for tests: time passes only when you advance it, and then through every deadline in order. Between two
 * deadlines it waits until the work has settled: no call of the clock for a few turns of the real event loop, and nothing
 * in `hold`. It does not know of other real waits in a handler (a socket, a `setTimeout`): wrap those in `hold`, or virtual
 * time passes them by.
 *
 *     const clock = new VirtualClock('2030-01-01T00:00:00Z')
 *     const wakeful = await open('sqlite::memory:', { clock })
 *     await clock.advance('3 days')
 */
export class VirtualClock implements Clock {
  #wall: number
  #monotonic = 0
  readonly #pending = new Set<Pending>()
  #questions = 0
  #turned = false
  readonly #listeners = new Set<() => void>()
  readonly #polls = new Set<() => void>()
  readonly #realWork = new Set<Promise<unknown>>()
  #passing: Promise<unknown> = Promise.resolve()

  /** Starts at this instant. */
  constructor(start: Moment = '2030-01-01T00:00:00Z') {
    this.#wall = parseInstant(start)
  }

  now(): number {
    this.#questions += 1
    return this.#wall
  }

  monotonic(): number {
    this.#questions += 1
    return this.#monotonic
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    this.#questions += 1
    const pending = { at: this.#monotonic + Math.max(0, Math.ceil(delayMs)), fire }
    this.#pending.add(pending)
    return () => {
      this.#questions += 1
      this.#pending.delete(pending)
    }
  }

  /**
   * A real turn of the event loop. A caller that turns again without doing anything waits for the last millisecond before a
   * deadline, which would never end here, so that turn lasts until the next millisecond.
   */
  turn(): Promise<void> {
    this.#questions += 1
    if (this.#turned) return new Promise((resolve) => void this.setTimer(1, resolve))
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#turned = true
        // Runs before any write that is queued after it.
        setImmediate(() => {
          this.#turned = false
        })
        resolve()
      })
    })
  }

  /** Lets this much time pass, stepping through every deadline on the way. */
  advance(by: Stretch): Promise<void> {
    const ms = stretchMs(by)
    if (!Number.isSafeInteger(ms) || ms < 0) throw new WakefulError('clock.backwards', { by: String(by) })
    return this.#inTurn(() => this.#pass(this.#monotonic + ms))
  }

  /** Lets time pass until the wall clock reads this instant. */
  advanceTo(instant: Moment): Promise<void> {
    const to = parseInstant(instant)
    return this.#inTurn(() => {
      if (to >= this.#wall) return this.#pass(this.#monotonic + to - this.#wall)
      const [there, here] = [formatInstant(to), formatInstant(this.#wall)]
      throw new WakefulError('clock.past', { to: String(there), now: String(here) })
    })
  }

  /** Sets the wall clock forward or back, as an operator would. No time passes, and deadlines stay as far away. */
  jump(by: Stretch): void {
    this.#wall += typeof by === 'string' && by.startsWith('-') ? -parseDuration(by.slice(1)) : stretchMs(by)
    for (const listener of [...this.#listeners]) listener()
  }

  onStep(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls back while work settles, before time moves on. For what polls in real time: a whole day of virtual time may pass
   * between two such polls.
   */
  onRest(poll: () => void): () => void {
    this.#polls.add(poll)
    return () => this.#polls.delete(poll)
  }

  /** Lets time pass, deadline by deadline, until this promise has settled, and returns its result. */
  async until<T>(promise: Promise<T>, atMost: Stretch = UNTIL_MAX): Promise<T> {
    let isOpen = true
    const done = () => {
      isOpen = false
    }
    promise.then(done, done)
    await this.#inTurn(async () => {
      const last = this.#monotonic + stretchMs(atMost)
      await this.rest()
      while (isOpen) {
        const at = this.#earliest()?.at
        if (at === undefined || at > last)
          throw new Error(
            `the promise has not settled, and ${at === undefined ? 'nothing' : 'too much'} is left to wait for`,
          )
        await this.#step(at)
      }
    })
    return promise
  }

  /** Stops time during real work: `await clock.hold(fetch(url))`. */
  hold<T>(work: Promise<T>): Promise<T> {
    const pending: Promise<unknown> = work.catch(() => {}).finally(() => this.#realWork.delete(pending))
    this.#realWork.add(pending)
    return work
  }

  /** Waits, without letting time pass, until all work has settled. */
  async rest(): Promise<void> {
    let idle = 0
    for (let turns = 0; idle < IDLE_TURNS; turns++) {
      if (turns > TURNS_MAX) throw new Error(`nothing comes to rest at ${formatInstant(this.#wall)}`)
      const before = this.#questions
      for (const poll of this.#polls) poll()
      if (this.#realWork.size > 0) await Promise.all(this.#realWork)
      await new Promise((resolve) => setImmediate(resolve))
      idle = this.#questions === before && this.#realWork.size === 0 ? idle + 1 : 0
    }
  }

  /** Runs one at a time, so that two concurrent advances do not interfere. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const passing = this.#passing.then(work)
    this.#passing = passing.catch(() => {})
    return passing
  }

  async #pass(to: number): Promise<void> {
    await this.rest()
    for (let next = this.#earliest(); next !== undefined && next.at <= to; next = this.#earliest())
      await this.#step(next.at)
    this.#moveTo(to)
    await this.rest()
  }

  /** Goes to the next deadline and fires its timers, in the order in which they were set. */
  async #step(at: number): Promise<void> {
    this.#moveTo(at)
    for (let due = this.#earliest(); due !== undefined && due.at <= at; due = this.#earliest()) {
      this.#pending.delete(due)
      due.fire()
      // A timer may cancel the next one.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await this.rest()
  }

  #moveTo(at: number): void {
    this.#wall += at - this.#monotonic
    this.#monotonic = at
  }

  #earliest(): Pending | undefined {
    let earliest: Pending | undefined
    for (const pending of this.#pending)
      if (earliest === undefined || pending.at < earliest.at) earliest = pending
    return earliest
  }
}

function stretchMs(by: Stretch): number {
  return typeof by === 'number' ? by : parseDuration(by)
}
