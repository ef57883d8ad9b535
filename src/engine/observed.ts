import { type EventDraft, isFire, lateness, type Verdict } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Claimed, ClaimRequest, DueTimer, Settlement, SettleResult, Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { ObservedAttempt, Observer } from './observer.ts'

/** Calls whose failures are told. A transaction's may be its handler's fault, and reads have their callers. */
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

/**
 * The same store, whose calls are told to an observer once they are answered. What it tells is what was written: an
 * outcome that is written again after an error is told once, and what another owner voided is not told. Where nobody
 * observes, nothing of this is there.
 */
export function observed(store: Store, clock: Clock, observer: Observer): Store {
  const calls: Partial<Store> = {
    async claim(leases, request) {
      const verdicts = new Map<string, { found: DueTimer; verdict: Verdict }>()
      const taken = await store.claim(leases, noting(request, verdicts))
      tellTaken(taken, verdicts, observer)
      return taken
    },
    async settle(settlements, landed, context) {
      const from = clock.monotonic()
      const settled = await store.settle(settlements, landed, context)
      observer.settled(clock.monotonic() - from)
      const valid = settlements.filter((each) => !isLost(each, settled))
      if (valid.length > 0) observer.attempted(valid.map(attemptOf))
      return settled
    },
    async transact(lease, work, context) {
      let written: Settlement | null = null
      const settled = await store.transact(
        lease,
        async (tx) => {
          written = await work(tx)
          return written
        },
        context,
      )
      if (written !== null && settled.lost.length + settled.stale === 0)
        observer.attempted([attemptOf(written)])
      return settled
    },
    async set(requests, context, tx) {
      const answers = await store.set(requests, context, tx)
      for (const { outcome } of answers) observer.set(outcome)
      return answers
    },
  }
  return delegate(store, calls, observer)
}

/** Everything else goes to the store itself: it has private fields, so that its methods must be called on it. */
function delegate(store: Store, calls: Partial<Store>, observer: Observer): Store {
  const bound = new Map<string | symbol, unknown>()
  for (const name of WATCHED_CALLS) {
    const call = (calls[name] ?? store[name].bind(store)) as (...given: unknown[]) => Promise<unknown>
    bound.set(name, (...given: unknown[]) => telling(name, call(...given), observer))
  }
  if (calls.transact !== undefined) bound.set('transact', calls.transact)
  return new Proxy(store, {
    get(target, name) {
      const known = bound.get(name)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method: unknown = value.bind(target)
      bound.set(name, method)
      return method
    },
  })
}

async function telling<T>(call: string, answer: Promise<T>, observer: Observer): Promise<T> {
  try {
    return await answer
  } catch (thrown) {
    if (isStoreTrouble(thrown)) observer.storeFailed(call)
    throw thrown
  }
}

/** A refusal is an answer, and no trouble. */
function isStoreTrouble(thrown: unknown): boolean {
  if (!(thrown instanceof WakefulError)) return true
  return thrown.code === 'store_unavailable' || thrown.code === 'schema_too_new' || thrown.code === 'internal'
}

function noting(
  request: ClaimRequest,
  verdicts: Map<string, { found: DueTimer; verdict: Verdict }>,
): ClaimRequest {
  return {
    ...request,
    triage(found) {
      const verdict = request.triage(found)
      // By timer: a store that has to start over, or to look up more, asks again. The last word counts.
      const isTold = verdict.kind === 'settle' || (verdict.kind === 'fire' && verdict.change !== undefined)
      if (isTold) verdicts.set(`${found.timer.id}:${found.timer.version}`, { found, verdict })
      return verdict
    },
  }
}

function tellTaken(
  taken: Claimed,
  verdicts: ReadonlyMap<string, { found: DueTimer; verdict: Verdict }>,
  observer: Observer,
): void {
  const lost = new Set(taken.lost.map(({ shard }) => shard))
  const ticks: ObservedAttempt[] = []
  for (const { found, verdict } of verdicts.values()) {
    if (verdict.kind === 'look' || lost.has(found.timer.shard)) continue
    for (const event of verdict.change?.events ?? []) {
      if (isFire(event)) ticks.push(tickOf(found, event))
      else if (event.type === 'alarm.skipped')
        observer.skipped(String(event.data.reason), Number(event.data.count))
      else if (event.type === 'alarm.timed_out') observer.reportOverdue()
    }
  }
  if (ticks.length > 0) observer.attempted(ticks)
}

/** A fire whose target is the log: written as it was taken. */
function tickOf({ timer }: DueTimer, { data }: EventDraft): ObservedAttempt {
  const latenessMs = timer.waiting === null && timer.attempt === 0 ? Number(data.drift_ms) : null
  return { target: 'event', outcome: 'delivered', attempt: timer.attempt + 1, latenessMs, durationMs: 0 }
}

function isLost({ lease }: Settlement, { lost }: SettleResult): boolean {
  return lost.some(({ shard, epoch }) => shard === lease.shard && epoch === lease.epoch)
}

function attemptOf({ alarm, timer, delivery }: Settlement): ObservedAttempt {
  const attempt = timer.attempt + 1
  const target = alarm.target.kind
  if (delivery.kind === 'released' || delivery.kind === 'lost')
    return { target, outcome: 'released', attempt, latenessMs: null, durationMs: 0 }
  const { firedAt, endedAt } = delivery
  const isFirst = timer.attempt === 0 && timer.waiting === null
  return {
    target,
    outcome: outcomeOf(delivery, attempt < alarm.maxFailures),
    attempt,
    latenessMs: isFirst ? lateness(alarm, timer, firedAt) : null,
    durationMs: endedAt - firedAt,
  }
}

function outcomeOf(
  delivery: Extract<Settlement['delivery'], { kind: 'delivered' | 'failed' }>,
  hasMore: boolean,
): ObservedAttempt['outcome'] {
  if (delivery.kind === 'delivered') return 'delivered'
  return hasMore && delivery.final !== true && delivery.gone !== true ? 'retry' : 'failed'
}
