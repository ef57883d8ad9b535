import type { Timers } from '../../src/stores/sharded/index.ts'

interface Wait {
  at: number
  readonly call: () => void
  /** Null if it ends once. */
  readonly everyMs: number | null
}

/** Timers of a store for which time passes only when a test says so. */
export class ManualTimers implements Timers {
  #now = 0
  readonly #waits = new Set<Wait>()

  /** How long each wait still takes, in order. */
  get left(): number[] {
    return [...this.#waits].map(({ at }) => at - this.#now).sort((a, b) => a - b)
  }

  soon(call: () => void): void {
    setImmediate(call)
  }

  later(ms: number, call: () => void): () => void {
    return this.#add({ at: this.#now + ms, call, everyMs: null })
  }

  every(ms: number, call: () => void): () => void {
    return this.#add({ at: this.#now + ms, call, everyMs: ms })
  }

  /** Lets time pass: each wait that ends in it calls back. */
  pass(ms: number): void {
    const until = this.#now + ms
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#now = next.at
      if (next.everyMs === null) this.#waits.delete(next)
      else next.at += next.everyMs
      next.call()
    }
    this.#now = until
  }

  #add(wait: Wait): () => void {
    this.#waits.add(wait)
    return () => this.#waits.delete(wait)
  }

  #next(until: number): Wait | undefined {
    return [...this.#waits].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
  }
}
