/** The same message is told once within this time. */
const APART_MS = 1_000
/** Of so many messages it is known when they were told; beyond, the one told longest ago is forgotten. */
const MESSAGES_MAX = 100

interface Told {
  readonly at: number
  leftOut: number
}

/** Keeps one message from filling the log: while a store is away, every call says the same. */
export class LogThrottle {
  readonly #told = new Map<string, Told>()

  /** How many of the same were left out since it was told last; null where this one is left out, too. */
  next(message: string, now: number): number | null {
    const last = this.#told.get(message)
    // A clock that was set back must not silence anything for long.
    if (last !== undefined && Math.abs(now - last.at) < APART_MS) {
      last.leftOut += 1
      return null
    }
    this.#told.delete(message)
    if (this.#told.size >= MESSAGES_MAX) this.#told.delete(this.#told.keys().next().value!)
    this.#told.set(message, { at: now, leftOut: 0 })
    return last?.leftOut ?? 0
  }
}
