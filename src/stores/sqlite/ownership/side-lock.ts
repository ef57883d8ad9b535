import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isBusy, realSystem, type System } from '../connection/index.ts'

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
  readonly #system: System
  #held: DatabaseSync | null = null

  constructor(path: string, system: System = realSystem) {
    this.#path = path
    this.#system = system
  }

  get isHeld(): boolean {
    return this.#held !== null
  }

  tryAcquire(): boolean {
    if (this.#held !== null) return true
    const db = this.#system.open(this.#path, { timeout: 0 })
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
    this.#system.touch(this.#path, at)
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
