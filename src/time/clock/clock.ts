/** The clock port: the only way Wakeful learns what time it is, or waits. */
export interface Clock {
  /** Wall time in whole epoch milliseconds, from the store's authority. */
  now(): number
  /** Milliseconds that never go back, from any origin. */
  monotonic(): number
  /** Calls `fire` once after `delayMs` of monotonic time, unless the returned function is called first. */
  setTimer(delayMs: number, fire: () => void): () => void
  /** Resolves after everything else that is queued in this turn of the event loop. */
  turn(): Promise<void>
  /**
   * Tells of every step of the wall clock, until the answer is called. A clock that has it is trusted to: who waits on
   * it need not look at the wall clock in between.
   */
  onStep?(listener: () => void): () => void
  /** On a clock that passes by itself only: it stands still while this real work (a socket's) is under way. */
  hold?<T>(work: Promise<T>): Promise<T>
}
