import { type Change, type EventDraft, isFire, lateness } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { DueTimer, Settlement } from '../stores/index.ts'

/** One attempt at delivering an occurrence, as it was written. */
export interface ObservedAttempt {
  /** The kind of its target: `handler`, `webhook`, `event`, … */
  readonly target: string
  /**
   * `delivered`; `retry`: it failed and is attempted again; `failed`: it failed for good; `released`: handed back
   * undelivered, uncounted.
   */
  readonly outcome: 'delivered' | 'retry' | 'failed' | 'released'
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** How late it began; null for what was not due then: a later attempt, or what waited for another reason. */
  readonly latenessMs: number | null
  readonly durationMs: number
}

/**
 * Is called after the store has answered, for metrics: with what was written. An outcome that is written again after an
 * error is reported once, and what a lost lease voided is not reported. The calls are made in the engine's loop, so they
 * must be quick and must not throw.
 */
export interface Observer {
  /** These were written, in one settle or one claim. */
  attempted(attempts: readonly ObservedAttempt[]): void
  /** This many occurrences were not delivered, for this reason. */
  skipped(reason: string, count: number): void
  /** No report came in time for one that was delivered. */
  reportOverdue(): void
  /** How long a settle took. */
  settled(durationMs: number): void
  /** An alarm was set; within a caller's own transaction it may still be rolled back. */
  set(outcome: 'created' | 'replaced' | 'unchanged' | 'deduped'): void
  /** The store failed at this call. */
  storeFailed(call: string): void
}

/**
 * Calls whose failures are reported, by their names in the metrics; `review` is `recomputeInstants`. A failed transaction may
 * be its handler's fault, and a failed read has its caller.
 */
export const WATCHED_CALLS = [
  'heartbeat',
  'claim',
  'settle',
  'set',
  'edit',
  'requeueWaiting',
  'prune',
  'review',
] as const

/** Reports a call of the store that has failed, and throws its error again. */
export function reportAndRethrow(
  observer: Observer | undefined,
  call: (typeof WATCHED_CALLS)[number],
  thrown: unknown,
): never {
  if (isStoreFailure(thrown)) observer?.storeFailed(call)
  throw thrown
}

/** A refusal is an answer, and no failure of the store. */
function isStoreFailure(thrown: unknown): boolean {
  if (!(thrown instanceof WakefulError)) return true
  return thrown.code === 'store_unavailable' || thrown.code === 'schema_too_new' || thrown.code === 'internal'
}

/** What a claim wrote about a timer without delivering it. */
export interface WrittenByClaim {
  readonly found: DueTimer
  readonly change: Change
}

/** Reports what a claim wrote. */
export function observeClaim(observer: Observer, written: readonly WrittenByClaim[]): void {
  const attempts: ObservedAttempt[] = []
  for (const { found, change } of written) {
    for (const event of change.events ?? []) {
      if (isFire(event)) attempts.push(eventAttempt(found, event))
      else if (event.type === 'alarm.skipped')
        observer.skipped(String(event.data.reason), Number(event.data.count))
      else if (event.type === 'alarm.timed_out') observer.reportOverdue()
    }
  }
  if (attempts.length > 0) observer.attempted(attempts)
}

/** Reports what a settle wrote. */
export function observeSettle(observer: Observer, settlements: readonly Settlement[]): void {
  if (settlements.length > 0) observer.attempted(settlements.map(attemptOf))
}

/** A fire whose target is the log: written by the claim itself. */
function eventAttempt({ timer }: DueTimer, { data }: EventDraft): ObservedAttempt {
  const latenessMs = timer.waiting === null && timer.attempt === 0 ? Number(data.drift_ms) : null
  return { target: 'event', outcome: 'delivered', attempt: timer.attempt + 1, latenessMs, durationMs: 0 }
}

function attemptOf({ alarm, timer, delivery }: Settlement): ObservedAttempt {
  const attempt = timer.attempt + 1
  const target = alarm.target.kind
  if (delivery.kind === 'released' || delivery.kind === 'lost')
    return { target, outcome: 'released', attempt, latenessMs: null, durationMs: 0 }
  const { firedAt, endedAt } = delivery
  const latenessMs = timer.attempt === 0 && timer.waiting === null ? lateness(alarm, timer, firedAt) : null
  const times = { attempt, latenessMs, durationMs: endedAt - firedAt }
  if (delivery.kind === 'delivered') return { target, outcome: 'delivered', ...times }
  const isOver = attempt >= alarm.maxFailures || delivery.final === true || delivery.gone === true
  return { target, outcome: isOver ? 'failed' : 'retry', ...times }
}
