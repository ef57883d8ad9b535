import type { ChangeKind } from '../../index.ts'
import type { Database } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

type Listening = (news: ChangeKind) => void

/** How often the log is looked at for those who follow it: nobody is told of every event. */
const LOG_POLL_MS = 200

/** Who wants to know of what other processes do. */
export class Notifier {
  readonly #database: Database
  readonly #clock = new Set<Listening>()
  readonly #log = new Set<Listening>()
  /** What is to ring, by how long it waits: who asks again for the same while it waits is answered by that one. */
  readonly #timers = new Map<number, NodeJS.Timeout>()
  #poll: NodeJS.Timeout | null = null
  #newest = -1
  #polling = false

  constructor(database: Database) {
    this.#database = database
  }

  add(listener: Listening, about: 'clock' | 'log'): () => void {
    const listeners = about === 'log' ? this.#log : this.#clock
    listeners.add(listener)
    if (this.#log.size > 0) this.#poll ??= setInterval(() => void this.#look(), LOG_POLL_MS)
    return () => {
      listeners.delete(listener)
      if (this.#log.size === 0) this.#stopPolling()
    }
  }

  ring(news: ChangeKind): void {
    for (const listener of news === 'log' ? this.#log : this.#clock) listener(news)
  }

  /** Rings after a while, unless it is closed before. */
  ringIn(inMs: number, news: 'shards'): void {
    if (this.#clock.size === 0 || this.#timers.has(inMs)) return
    const timer = setTimeout(() => {
      this.#timers.delete(inMs)
      this.ring(news)
    }, inMs)
    this.#timers.set(inMs, timer)
  }

  close(): void {
    this.#stopPolling()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    this.#clock.clear()
    this.#log.clear()
  }

  #stopPolling(): void {
    if (this.#poll !== null) clearInterval(this.#poll)
    this.#poll = null
  }

  /** A number is given out before its commit: it rings once more when it has stood still, for what committed late. */
  async #look(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    try {
      const [newest, open] = await Promise.all([
        this.#database.session.row(sql.newestSeq),
        this.#database.session.rows(sql.logWriters),
      ])
      const isNew = newest![0] !== this.#newest
      this.#newest = open.length > 0 ? -1 : (newest![0] as number)
      if (isNew) this.ring('log')
    } catch {
      // Told by those who need the database, not by whoever looks whether it changed.
    } finally {
      this.#polling = false
    }
  }
}
