import assert from 'node:assert/strict'
import {
  type Change,
  type Context,
  fireNow,
  type LifecycleEvent,
  pause,
  replace,
  report,
  resume,
  retry,
  type Snapshot,
  skipNext,
} from '../../alarm/index.ts'
import type { Came } from './bench.ts'
import { HOUR_MS, KEY, REPORT_MS, type Standing } from './standing.ts'

type Happening = (standing: Standing) => Promise<unknown>

const LATER_MS = 48 * HOUR_MS

/** How each event of the lifecycle is made to happen through the store's port. A refusal is thrown. */
export const HAPPENINGS: Readonly<Record<LifecycleEvent, Happening>> = {
  delivered: (at) => outcome(at, 'delivered'),
  delivered_unreported: (at) => outcome(at, 'delivered'),
  attempt_failed: (at) => (at.state === 'awaiting' ? reported(at, false) : outcome(at, 'failed')),
  // What timed out may still be reported failed: there is no delivery left that could fail.
  exhausted: (at) =>
    at.state === 'awaiting' || at.state === 'timed_out' ? reported(at, false) : outcome(at, 'failed'),
  target_gone: (at) => outcome(at, 'gone'),
  ran_out: (at) => outcome(at, 'delivered'),
  missed: (at) => later(at, at.state === 'awaiting' ? REPORT_MS - 1 : LATER_MS),
  report_overdue: (at) => later(at, REPORT_MS),
  async reported(at) {
    await reported(at, true)
    if (at.state === 'active') await at.bench.settle(at.taking!, 'delivered')
  },
  cancel: (at) => at.bench.cancel(at.id),
  pause: (at) => edit(at, pause),
  resume: (at) => edit(at, resume),
  skip_next: (at) => edit(at, skipNext),
  fire_now: (at) => edit(at, fireNow),
  retry: (at) => edit(at, retry),
  reschedule: (at) =>
    edit(at, (found, context) => {
      const first = context.now + HOUR_MS
      const rule = found.alarm.rule.kind === 'once' ? { ...found.alarm.rule, at: first } : found.alarm.rule
      return replace(found, { alarm: { ...found.alarm, rule }, first }, 'reschedule', context)
    }),
  set_again: async (at) => {
    const when = at.recurring ? { every: '2h' } : { delay: '2h' }
    const { snapshot, outcome } = await at.bench.set(when, { key: KEY })
    assert.deepEqual([outcome, snapshot.alarm.id], ['replaced', at.id])
  },
}

function edit(at: Standing, decide: (snapshot: Snapshot, context: Context) => Change): Promise<unknown> {
  return at.bench.edit(at.id, decide)
}

function reported(at: Standing, ok: boolean): Promise<unknown> {
  return edit(at, (found, context) => report(found, { ok, text: 'said so' }, context))
}

/** The outcome of a delivery. For an alarm that no longer waits for it, it comes again and must be void. */
async function outcome(at: Standing, came: Came): Promise<void> {
  const { lost, stale } = await at.bench.settle(at.taking!, came)
  const waits = at.state === 'active' || at.state === 'paused'
  assert.deepEqual({ lost, stale }, { lost: [], stale: waits ? 0 : 1 })
}

/** Time passes, and the clock of the shard looks. */
async function later({ bench, leases }: Standing, ms: number): Promise<void> {
  bench.clock.step(ms)
  const { timers: takings } = await bench.take(leases)
  assert.deepEqual(takings, [], 'nothing is delivered')
}
