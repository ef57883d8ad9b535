import type { DatabaseSync } from 'node:sqlite'
import { realSystem, type System } from '../stores/sqlite/index.ts'
import type { Clock } from '../time/index.ts'

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

  constructor(clock: Clock) {
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (delayMs, fire) => (this.#isDead ? () => {} : clock.setTimer(delayMs, this.#living(fire))),
      turn: () => this.#unlessDead(clock.turn()),
      ...(clock.hold && { hold: (work) => clock.hold!(work) }),
      ...(clock.onStep && { onStep: (listener) => clock.onStep!(this.#living(listener)) }),
    }
    this.system = {
      // A call after the crash fails as if the file were closed.
      soon: realSystem.soon,
      later: realSystem.later,
      every: (ms, call) => this.#repeated(realSystem.every(ms, call)),
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

  #repeated(stop: () => void): () => void {
    this.#repeating.add(stop)
    return () => {
      this.#repeating.delete(stop)
      stop()
    }
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
