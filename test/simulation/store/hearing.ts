import type { ChangeKind } from '../../../src/stores/index.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { Connection } from './connection.ts'
import type { Notice } from './database.ts'

type Listening = (news: ChangeKind) => void

/** What hearing needs from its store. */
export interface HearingPorts {
  readonly connection: Connection
  readonly clock: Clock
  /** Told that something wakes at this time, nobody says where. */
  readonly onWake: (wakeAt: number) => void
  readonly onCalendars: () => void
  /** Told that something may have been missed. */
  readonly onMissed: () => void
}

/**
 * What a process hears of the others. News travel over the wire like everything else. Where one is lost, the process is
 * deaf until its next beat is answered, and then takes it that it has missed something.
 */
export class Hearing {
  readonly #ports: HearingPorts
  readonly #clockBells = new Set<Listening>()
  readonly #logBells = new Set<Listening>()
  readonly #timers = new Map<number, () => void>()
  #isDeaf = false

  constructor(ports: HearingPorts) {
    this.#ports = ports
  }

  /** Whether what others write is heard of, as far as this process knows. */
  get isListening(): boolean {
    return this.#clockBells.size > 0 && !this.#isDeaf
  }

  add(listener: Listening, about: 'clock' | 'log'): () => void {
    this.#listen()
    const listeners = about === 'log' ? this.#logBells : this.#clockBells
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  ring(news: ChangeKind): void {
    for (const listener of news === 'log' ? this.#logBells : this.#clockBells) listener(news)
  }

  /** Rings after a while, unless it is closed before. */
  ringIn(inMs: number, news: 'shards'): void {
    if (this.#clockBells.size === 0 || this.#timers.has(inMs)) return
    const cancel = this.#ports.clock.setTimer(inMs, () => {
      this.#timers.delete(inMs)
      this.ring(news)
    })
    this.#timers.set(inMs, cancel)
  }

  /** The database was reached: what was told while nobody listened was not heard. */
  catchUp(): void {
    if (this.#clockBells.size + this.#logBells.size === 0) return
    if (!this.#listen() && !this.#isDeaf) return
    this.#isDeaf = false
    this.#ports.onMissed()
    for (const news of ['timers', 'shards', 'log'] as const) this.ring(news)
    this.#ports.onCalendars()
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#clockBells.clear()
    this.#logBells.clear()
  }

  #listen(): boolean {
    const { database, process } = this.#ports.connection
    return database.listen(process, (notice, teller) => void this.#hear(notice, teller))
  }

  async #hear(notice: Notice, teller: string | null): Promise<void> {
    const { connection, onWake, onCalendars } = this.#ports
    // What this process wrote itself it knows. Of the log only those want to know who follow it.
    if (teller === connection.process || (notice === 'log' && this.#logBells.size === 0)) return
    try {
      await connection.send('hear', () => {})
    } catch {
      this.#isDeaf = true
      return
    }
    if (notice === 'calendars') return onCalendars()
    if (typeof notice === 'string') return this.ring(notice)
    onWake(notice.wakeAt)
    this.ring('timers')
  }
}
