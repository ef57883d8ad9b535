import type { ChangeKind } from '../index.ts'
import type { Timers } from './protocol.ts'

/**
 * The notices between processes: something wakes soon, and which process wrote it; shards are free; a calendar was
 * edited. Null for a notice of another version.
 */
export type Notice = { readonly wakeAt: number; readonly sender: string } | 'shards' | 'calendars' | null

export const SHARDS_NOTICE = 'shards'
export const CALENDARS_NOTICE = 'calendars'

/** The text of a notice that something wakes. */
export function wakeNotice(wakeAt: number, sender: string): string {
  return `timers ${wakeAt} ${sender}`
}

/** Parses a notice. */
export function parseNotice(text: string): Notice {
  if (text === SHARDS_NOTICE) return 'shards'
  if (text === CALENDARS_NOTICE) return 'calendars'
  const [, wakeAt, sender] = /^timers (\d+) (.*)$/.exec(text) ?? []
  return wakeAt === undefined ? null : { wakeAt: Number(wakeAt), sender: sender ?? '' }
}

type Listening = (change: ChangeKind) => void

/** The listeners of this process for what other processes do. */
export class Notifier {
  readonly #timers: Timers
  readonly #watchLog: (onGrown: () => void) => () => void
  readonly #clock = new Set<Listening>()
  readonly #log = new Set<Listening>()
  /** Notifications that are scheduled, by their delay: the same delay is not scheduled twice. */
  readonly #pending = new Map<number, () => void>()
  #stopWatching: (() => void) | null = null

  constructor(timers: Timers, watchLog: (onGrown: () => void) => () => void) {
    this.#timers = timers
    this.#watchLog = watchLog
  }

  add(listener: Listening, about: 'clock' | 'log'): () => void {
    const listeners = about === 'log' ? this.#log : this.#clock
    listeners.add(listener)
    if (this.#log.size > 0) this.#stopWatching ??= this.#watchLog(() => this.notify('log'))
    return () => {
      listeners.delete(listener)
      if (this.#log.size === 0) this.#unwatch()
    }
  }

  notify(change: ChangeKind): void {
    for (const listener of change === 'log' ? this.#log : this.#clock) listener(change)
  }

  /** Notifies of a free shard after a delay, unless it is closed before. */
  notifyShardsIn(inMs: number): void {
    if (this.#clock.size === 0 || this.#pending.has(inMs)) return
    const cancel = this.#timers.later(inMs, () => {
      this.#pending.delete(inMs)
      this.notify('shards')
    })
    this.#pending.set(inMs, cancel)
  }

  close(): void {
    this.#unwatch()
    for (const cancel of this.#pending.values()) cancel()
    this.#pending.clear()
    this.#clock.clear()
    this.#log.clear()
  }

  #unwatch(): void {
    this.#stopWatching?.()
    this.#stopWatching = null
  }
}
