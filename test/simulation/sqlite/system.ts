import { AsyncLocalStorage } from 'node:async_hooks'
import { utimesSync } from 'node:fs'
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite'
import type { System } from '../../../src/stores/sqlite/connection/connection.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { SimulatedProcess } from '../process.ts'
import { TURN_MS } from '../process-clock.ts'
import type { Timeline } from '../timeline.ts'

/** How a process opens a database file. */
export type OpenFile = (path: string, options: DatabaseSyncOptions) => DatabaseSync

/** One process's view of the machine: it waits on the timeline, and its files are real. */
export class SimulatedSystem implements System {
  readonly open: OpenFile
  readonly #process: SimulatedProcess
  readonly #timeline: Timeline

  constructor(process: SimulatedProcess, timeline: Timeline, open: OpenFile) {
    this.open = open
    this.#process = process
    this.#timeline = timeline
  }

  soon(call: () => void): void {
    this.#timeline.in(TURN_MS, this.#process, AsyncLocalStorage.bind(call))
  }

  later(ms: number, call: () => void): void {
    this.#process.clock.setTimer(ms, AsyncLocalStorage.bind(call))
  }

  every(ms: number, call: () => void): () => void {
    let cancel = () => {}
    const again = () => {
      cancel = this.#process.clock.setTimer(ms, tick)
    }
    const tick = () => {
      again()
      call()
    }
    again()
    return () => cancel()
  }

  touch(path: string, at: number): void {
    if (!this.#process.isDead) utimesSync(path, at / 1000, at / 1000)
  }
}

/**
 * The machine's clock as a process has it in production: it gets no notice of steps, and a timer keeps the async
 * context in which it was set, as in Node.
 */
export function hostClock({ clock }: SimulatedProcess): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (delayMs, fire) => clock.setTimer(delayMs, AsyncLocalStorage.bind(fire)),
    turn: () => clock.turn(),
  }
}
