import type { News } from '../../../src/stores/index.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { Connection } from './connection.ts'
import type { Notice } from './database.ts'

type Listening = (news: News) => void

/**
 * What a process hears of the others. News travel over the wire like everything else. Where one is lost, the process is
 * deaf until its next beat is answered, and then takes it that it has missed something.
 */
export class Hearing {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #onCalendars: () => void
  readonly #clockBells = new Set<Listening>()
  readonly #logBells = new Set<Listening>()
  readonly #timers = new Set<() => void>()
  #isDeaf = false

  constructor(connection: Connection, clock: Clock, onCalendars: () => void) {
    this.#connection = connection
    this.#clock = clock
    this.#onCalendars = onCalendars
  }

  add(listener: Listening, about: 'clock' | 'log'): () => void {
    this.#listen()
    const listeners = about === 'log' ? this.#logBells : this.#clockBells
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  ring(news: News): void {
    for (const listener of news === 'log' ? this.#logBells : this.#clockBells) listener(news)
  }

  /** Rings after a while, unless it is closed before. */
  ringIn(inMs: number, news: News): void {
    if (this.#clockBells.size === 0) return
    const cancel = this.#clock.setTimer(inMs, () => {
      this.#timers.delete(cancel)
      this.ring(news)
    })
    this.#timers.add(cancel)
  }

  /** The database was reached: what was told while nobody listened was not heard. */
  catchUp(): void {
    if (this.#clockBells.size + this.#logBells.size === 0) return
    if (!this.#listen() && !this.#isDeaf) return
    this.#isDeaf = false
    for (const news of ['timers', 'shards', 'log'] as const) this.ring(news)
    this.#onCalendars()
  }

  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#clockBells.clear()
    this.#logBells.clear()
  }

  #listen(): boolean {
    const { database, process } = this.#connection
    return database.listen(process, (notice, teller) => void this.#hear(notice, teller))
  }

  async #hear(notice: Notice, teller: string | null): Promise<void> {
    // What this process wrote itself it knows. Of the log only those want to know who follow it.
    const isOwn = teller === this.#connection.process
    if (isOwn || (notice === 'log' && this.#logBells.size === 0)) return
    try {
      await this.#connection.send('hear', () => {})
    } catch {
      this.#isDeaf = true
      return
    }
    if (notice === 'calendars') this.#onCalendars()
    else this.ring(notice)
  }
}
