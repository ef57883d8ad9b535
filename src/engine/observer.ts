import { type Change, type EventDraft, isFire, lateness, type Serial, type Timer } from '../alarm/index.ts'
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
  /** How late it began; null for a later attempt, and for what was deferred. */
  readonly latenessMs: number | null
  /**
   * How long after its instant it began, if it was deferred: by an open circuit, a pause, a limit, a missing handler or an
   * earlier occurrence. Null for a later attempt, and for what was not deferred.
   */
  readonly deferredMs: number | null
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
export function observeClaim(
  observer: Observer,
  written: readonly WrittenByClaim[],
  deferred: ReadonlySet<Serial>,
): void {
  const attempts: ObservedAttempt[] = []
  for (const { found, change } of written) {
    for (const event of change.events ?? []) {
      if (isFire(event)) attempts.push(eventAttempt(found, event, deferred.has(found.timer.id)))
      else if (event.type === 'alarm.skipped')
        observer.skipped(String(event.data.reason), Number(event.data.count))
      else if (event.type === 'alarm.timed_out') observer.reportOverdue()
    }
  }
  if (attempts.length > 0) observer.attempted(attempts)
}

const NO_DELAY = { latenessMs: null, deferredMs: null } as const

/** Reports what a settle wrote. */
export function observeSettle(observer: Observer, settlements: readonly Settlement[]): void {
  if (settlements.length > 0) observer.attempted(settlements.map(attemptOf))
}

/** A fire whose target is the log: written by the claim itself. */
function eventAttempt({ timer }: DueTimer, { data }: EventDraft, isDeferred: boolean): ObservedAttempt {
  const delays = delaysOf(timer, Number(data.drift_ms), isDeferred)
  return { target: 'event', outcome: 'delivered', attempt: timer.attempt + 1, ...delays, durationMs: 0 }
}

/** The delay of a first attempt, as lateness or as the time that it was deferred. */
function delaysOf(
  { waiting, attempt }: Timer,
  delayMs: number,
  isDeferred: boolean,
): Pick<ObservedAttempt, 'latenessMs' | 'deferredMs'> {
  if (attempt > 0) return NO_DELAY
  return waiting === null && !isDeferred
    ? { ...NO_DELAY, latenessMs: delayMs }
    : { ...NO_DELAY, deferredMs: delayMs }
}

function attemptOf({ alarm, timer, delivery, isDeferred = false }: Settlement): ObservedAttempt {
  const attempt = timer.attempt + 1
  const target = alarm.target.kind
  if (delivery.kind === 'released' || delivery.kind === 'lost')
    return { target, outcome: 'released', attempt, ...NO_DELAY, durationMs: 0 }
  const { firedAt, endedAt } = delivery
  const delays = delaysOf(timer, lateness(alarm, timer, firedAt), isDeferred)
  const times = { attempt, ...delays, durationMs: endedAt - firedAt }
  if (delivery.kind === 'delivered') return { target, outcome: 'delivered', ...times }
  const isOver = attempt >= alarm.maxFailures || delivery.final === true || delivery.gone === true
  return { target, outcome: isOver ? 'failed' : 'retry', ...times }
}
