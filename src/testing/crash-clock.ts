import type { DatabaseSync } from 'node:sqlite'
import { realSystem, type System } from '../stores/sqlite/index.ts'
import type { Clock } from '../time/index.ts'
import { nextTurn, type VirtualClock } from './virtual-clock.ts'

/**
 * A simulated process that can crash: after that its timers never fire, and its files are closed as the operating system
 * closes them. A handler that is running goes on, without effect on the store.
 */
export class CrashableProcess {
  readonly clock: Clock
  readonly system: System
  readonly #open = new Set<DatabaseSync>()
  readonly #repeating = new Set<() => void>()
  #isDead = false

  constructor(clock: VirtualClock) {
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (delayMs, fire) => (this.#isDead ? () => {} : clock.setTimer(delayMs, this.#living(fire))),
      turn: () => this.#unlessDead(clock.turn()),
      hold: (work) => clock.hold(work),
      onStep: (listener) => clock.onStep(this.#living(listener)),
    }
    this.system = {
      // A call after the crash fails as if the file were closed.
      soon: (call) => void nextTurn(call),
      later: realSystem.later,
      // Benches on one file see each other's commits before time moves on, not only after milliseconds of real time.
      every: (ms, call) => this.#repeated([realSystem.every(ms, call), clock.onRest(call)]),
      open: (path, options) => this.#opened(realSystem.open(path, options)),
      touch: (path, at) => {
        if (!this.#isDead) realSystem.touch(path, at)
      },
    }
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Crashes the process, whatever it is doing. */
  die(): void {
    this.#isDead = true
    for (const stop of this.#repeating) stop()
    for (const database of this.#open) if (database.isOpen) database.close()
  }

  #repeated(stops: readonly (() => void)[]): () => void {
    const stop = () => {
      this.#repeating.delete(stop)
      for (const each of stops) each()
    }
    this.#repeating.add(stop)
    return stop
  }

  #opened(database: DatabaseSync): DatabaseSync {
    if (this.#isDead) database.close()
    else this.#open.add(database)
    return database
  }

  #living(call: () => void): () => void {
    return () => {
      if (!this.#isDead) call()
    }
  }

  #unlessDead(waited: Promise<void>): Promise<void> {
    return new Promise((resolve) => void waited.then(this.#living(resolve)))
  }
}
