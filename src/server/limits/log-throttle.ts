/** The same message is logged once in this time. */
const INTERVAL_MS = 1_000
/** Beyond this many messages, the one logged longest ago is forgotten. */
const MESSAGES_MAX = 100

interface Logged {
  readonly at: number
  suppressed: number
}

/** Keeps one message from filling the log: while a store is down, every call fails with the same error. */
export class LogThrottle {
  readonly #logged = new Map<string, Logged>()

  /** How many of the same were suppressed since it was last logged; null if this one is suppressed too. */
  next(message: string, now: number): number | null {
    const last = this.#logged.get(message)
    // The absolute difference: a clock that was set back must not suppress anything for long.
    if (last !== undefined && Math.abs(now - last.at) < INTERVAL_MS) {
      last.suppressed += 1
      return null
    }
    this.#logged.delete(message)
    if (this.#logged.size >= MESSAGES_MAX) this.#logged.delete(this.#logged.keys().next().value!)
    this.#logged.set(message, { at: now, suppressed: 0 })
    return last?.suppressed ?? 0
  }
}
