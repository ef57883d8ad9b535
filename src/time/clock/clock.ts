/** The clock port: the only way Wakeful reads the time or waits. */
export interface Clock {
  /** Wall-clock time in whole epoch milliseconds, from the store's authoritative clock. */
  now(): number
  /** Milliseconds from an arbitrary origin that never go back. */
  monotonic(): number
  /** Calls `fire` once after `delayMs` of monotonic time, unless the returned function is called first. */
  setTimer(delayMs: number, fire: () => void): () => void
  /** Resolves after everything else that is queued in this turn of the event loop. */
  turn(): Promise<void>
  /**
   * Calls the listener at every step of the wall clock, until the returned function is called. Callers that wait on a
   * clock with this method do not poll the wall clock in between.
   */
  onStep?(listener: () => void): () => void
  /** Virtual clocks only: time stands still while this real work (such as a request on a socket) is under way. */
  hold?<T>(work: Promise<T>): Promise<T>
}
