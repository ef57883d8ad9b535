import { closeSync, existsSync, openSync, statSync, utimesSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './failure.ts'

/** The file beside the database that stands for the clock of a pool. */
export function sidePath(path: string, pool: string): string {
  return `${path}-clock-${pool}`
}

/** Whether some process holds the lock of this file, told by trying. */
export function isTaken(path: string): boolean {
  if (!existsSync(path)) return false
  const lock = new SideLock(path)
  try {
    return !lock.tryAcquire()
  } catch {
    return true
  } finally {
    lock.release()
  }
}

/**
 * A small file beside the database that says an owner lives, without a write to the database. Its lock (SQLite's own,
 * on an empty database: Node has no flock) is free milliseconds after the holder dies; its modification time is the
 * beat, since a stopped process keeps its locks. It speeds takeover up and never replaces the epoch.
 */
export class SideLock {
  readonly #path: string
  #held: DatabaseSync | null = null

  constructor(path: string) {
    this.#path = path
  }

  get isHeld(): boolean {
    return this.#held !== null
  }

  tryAcquire(): boolean {
    if (this.#held !== null) return true
    const db = new DatabaseSync(this.#path, { timeout: 0 })
    try {
      db.exec('BEGIN EXCLUSIVE')
    } catch (thrown) {
      db.close()
      if (isBusy(thrown)) return false
      throw thrown
    }
    this.#held = db
    return true
  }

  /** Shows that the holder lives. Touches by path: closing a descriptor of this file would drop its locks. */
  beat(at: number): void {
    if (!existsSync(this.#path)) closeSync(openSync(this.#path, 'a'))
    utimesSync(this.#path, at / 1000, at / 1000)
  }

  /** A value that moves with every beat; null before the first. */
  lastBeat(): number | null {
    return existsSync(this.#path) ? statSync(this.#path).mtimeMs : null
  }

  release(): void {
    this.#held?.close()
    this.#held = null
  }
}
