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
import { type AlarmInState, HOUR_MS, KEY, REPORT_MS } from './alarm-states.ts'
import type { DeliveryKind } from './harness.ts'

type EventStep = (standing: AlarmInState) => Promise<unknown>

const LATER_MS = 48 * HOUR_MS

/** How each event of the lifecycle is made to happen through the store's port. A refusal is thrown. */
export const EVENT_STEPS: Readonly<Record<LifecycleEvent, EventStep>> = {
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
    if (at.state === 'active') await at.harness.settle(at.claimed!, 'delivered')
  },
  cancel: (at) => at.harness.cancel(at.id),
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
    const { snapshot, outcome } = await at.harness.set(when, { key: KEY })
    assert.deepEqual([outcome, snapshot.alarm.id], ['replaced', at.id])
  },
}

function edit(at: AlarmInState, decide: (snapshot: Snapshot, context: Context) => Change): Promise<unknown> {
  return at.harness.edit(at.id, decide)
}

function reported(at: AlarmInState, ok: boolean): Promise<unknown> {
  return edit(at, (found, context) => report(found, { ok, text: 'said so' }, context))
}

/** The outcome of a delivery. For an alarm that no longer waits for it, it comes again and must be void. */
async function outcome(at: AlarmInState, came: DeliveryKind): Promise<void> {
  const { lost, stale } = await at.harness.settle(at.claimed!, came)
  const waits = at.state === 'active' || at.state === 'paused'
  assert.deepEqual({ lost, stale }, { lost: [], stale: waits ? 0 : 1 })
}

/** Time passes, and the clock of the shard looks. */
async function later({ harness, leases }: AlarmInState, ms: number): Promise<void> {
  harness.clock.step(ms)
  const { timers: claimed } = await harness.claim(leases)
  assert.deepEqual(claimed, [], 'nothing is delivered')
}
