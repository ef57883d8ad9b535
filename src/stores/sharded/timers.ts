/** How a store waits. A simulation passes its own. */
export interface Timers {
  /** Calls back at the end of this turn of the event loop. */
  soon(call: () => void): void
  /** Calls back after this many milliseconds, unless the returned function is called first. */
  later(ms: number, call: () => void): () => void
  /** Calls back every this many milliseconds, until the returned function is called. */
  every(ms: number, call: () => void): () => void
}

/** Node's timers. */
export const realTimers: Timers = {
  soon: (call) => void setImmediate(call),
  later(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  every(ms, call) {
    const timer = setInterval(call, ms)
    return () => clearInterval(timer)
  },
}

/** Waits this many milliseconds without blocking other work. */
export function wait(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.later(ms, resolve))
}
