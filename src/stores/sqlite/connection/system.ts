import { closeSync, openSync, utimesSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import type { Clock } from '../../../time/index.ts'

/** What the store uses of the system it runs on. A simulation brings its own, in which time passes as it says. */
export interface System {
  /** Calls back after everything else of this turn of the event loop. */
  soon(call: () => void): void
  /** Calls back after so many milliseconds. */
  later(ms: number, call: () => void): void
  /** Calls back every so many milliseconds, until the answer is called. */
  every(ms: number, call: () => void): () => void
  /** Opens a database file. */
  open(path: string, options: DatabaseSyncOptions): DatabaseSync
  /** Sets a file's modification time, in epoch milliseconds. */
  touch(path: string, at: number): void
}

/** Node, and the operating system below it. */
export const realSystem: System = {
  soon: (call) => void setImmediate(call),
  later: (ms, call) => void setTimeout(call, ms),
  every(ms, call) {
    const timer = setInterval(call, ms)
    return () => clearInterval(timer)
  },
  open(path, options) {
    if (options.readOnly !== true && path !== ':memory:') makePrivate(path)
    return new DatabaseSync(path, options)
  },
  touch: (path, at) => utimesSync(path, at / 1000, at / 1000),
}

/**
 * Makes a file that is not there yet, for its owner alone: what alarms say, and hashes of keys, are nobody else's business. SQLite
 * gives its own files beside it the same rights. A file that is there stays as its owner wants it.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there, or cannot be made: what is wrong then, opening it says.
  }
}

/** Waits so many milliseconds, without blocking anybody. */
export function wait(system: System, ms: number): Promise<void> {
  return new Promise((resolve) => system.later(ms, resolve))
}

/** Lets others have their turn of the event loop. No time passes for that on a clock that passes by itself only. */
export function turn(clock: Clock, system: System): Promise<void> {
  const over = new Promise<void>((resolve) => system.soon(resolve))
  return clock.hold === undefined ? over : clock.hold(over)
}
