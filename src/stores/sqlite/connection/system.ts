import { closeSync, openSync, utimesSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import type { Clock } from '../../../time/index.ts'

/** What the store needs from the operating system and the event loop. The simulation implements its own. */
export interface System {
  /** Calls back at the end of this turn of the event loop. */
  soon(call: () => void): void
  /** Calls back once, after this many milliseconds. */
  later(ms: number, call: () => void): void
  /** Calls back at this interval, until the returned function is called. */
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
 * Creates a missing file with access for its owner only, because it contains payloads and hashes of keys. SQLite gives the
 * files beside it the same permissions. An existing file keeps its permissions.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists, or cannot be created; then opening it reports why.
  }
}

/** Waits without blocking the event loop. */
export function wait(system: System, ms: number): Promise<void> {
  return new Promise((resolve) => system.later(ms, resolve))
}

/** Yields to the event loop. A virtual clock does not advance meanwhile. */
export function yieldTurn(clock: Clock, system: System): Promise<void> {
  const over = new Promise<void>((resolve) => system.soon(resolve))
  return clock.hold === undefined ? over : clock.hold(over)
}
