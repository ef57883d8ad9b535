import type { Session } from './session.ts'
import type { System } from './system.ts'

/** How often it checks for commits of other processes. A check takes 3 µs, so that their alarms fire on time. */
const POLL_MS = 25

/** Calls back when another connection has committed. SQLite has no hook for that, so it polls `data_version`. */
export class CommitWatcher {
  readonly #session: Session
  readonly #listeners = new Set<() => void>()
  readonly #system: System
  #stop: (() => void) | null = null
  #version = 0

  constructor(session: Session, system: System) {
    this.#session = session
    this.#system = system
  }

  add(listener: () => void): () => void {
    this.#listeners.add(listener)
    if (this.#stop === null) {
      this.#version = this.#read()
      this.#stop = this.#system.every(POLL_MS, () => this.#poll())
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    this.#stop?.()
    this.#stop = null
  }

  #poll(): void {
    const version = this.#tryRead()
    if (version === this.#version) return
    this.#version = version
    for (const listener of this.#listeners) listener()
  }

  /** Ignores errors: reads and writes of the file report them. */
  #tryRead(): number {
    try {
      return this.#read()
    } catch {
      return this.#version
    }
  }

  #read(): number {
    return this.#session.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0
  }
}
