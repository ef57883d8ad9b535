import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isBusy, realSystem, type System } from '../connection/index.ts'

/** The side file of a pool, beside the database. */
export function sideFilePath(path: string, pool: string): string {
  return `${path}-clock-${pool}`
}

/** Whether a process has locked this file; found by trying. */
export function isLocked(path: string): boolean {
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
 * A small file beside the database that shows that a lease holder is alive, without a write to the database. Its lock is a
 * SQLite lock on an empty database, because Node has no flock; it is free milliseconds after the holder dies. Its
 * modification time is the heartbeat, because a stopped process keeps its locks. It speeds up takeover and never replaces
 * the epoch.
 */
export class SideLock {
  readonly #path: string
  readonly #system: System
  #locked: DatabaseSync | null = null

  constructor(path: string, system: System = realSystem) {
    this.#path = path
    this.#system = system
  }

  tryAcquire(): boolean {
    if (this.#locked !== null) return true
    const db = this.#system.open(this.#path, { timeout: 0 })
    try {
      db.exec('BEGIN EXCLUSIVE')
    } catch (thrown) {
      db.close()
      if (isBusy(thrown)) return false
      throw thrown
    }
    this.#locked = db
    return true
  }

  /** Shows that the holder is alive. Touches by path, because closing a descriptor of this file would drop its locks. */
  heartbeat(at: number): void {
    if (!existsSync(this.#path)) closeSync(openSync(this.#path, 'a'))
    this.#system.touch(this.#path, at)
  }

  /** A value that changes with every heartbeat; null before the first. */
  lastHeartbeat(): number | null {
    return existsSync(this.#path) ? statSync(this.#path).mtimeMs : null
  }

  release(): void {
    this.#locked?.close()
    this.#locked = null
  }
}
