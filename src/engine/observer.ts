/** One attempt at delivering an occurrence, as it was written. */
export interface ObservedAttempt {
  /** The kind of its target: `handler`, `webhook`, `event`, … */
  readonly target: string
  /**
   * `delivered`; `retry`: it failed and will be tried again; `failed`: it failed for good; `released`: handed back
   * undelivered, uncounted.
   */
  readonly outcome: 'delivered' | 'retry' | 'failed' | 'released'
  /** Which try it was, from 1. */
  readonly attempt: number
  /** How late it began; null for what was not due then: another try, or what waited for a reason of its own. */
  readonly latenessMs: number | null
  readonly durationMs: number
}

/**
 * Told what the engine does, after the store has answered: for metrics. It is called in the engine's own loop, so it
 * must be quick, and must not throw.
 */
export interface Observer {
  /** These have been written, in one settle or one take. */
  attempted(attempts: readonly ObservedAttempt[]): void
  /** So many occurrences were not delivered, for this reason. */
  skipped(reason: string, count: number): void
  /** No report came in time for one that was delivered. */
  reportOverdue(): void
  /** A settle took so long. */
  settled(tookMs: number): void
  /** An alarm was set; within a caller's own transaction it may be undone yet. */
  set(outcome: 'created' | 'replaced' | 'deduped'): void
  /** The store could not do what was asked. */
  storeFailed(call: string): void
}
