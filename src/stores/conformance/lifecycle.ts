import assert from 'node:assert/strict'
import {
  type Change,
  type Context,
  EVENTS,
  fireNow,
  isEnd,
  type LifecycleEvent,
  nextCell,
  pause,
  replace,
  report,
  resume,
  retry,
  type Snapshot,
  STATES,
  type State,
  skipNext,
} from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import { type AlarmInState, HOUR_MS, KEY, REPORT_MS, reach } from './alarm-states.ts'
import { type ConformanceCase, casesOf } from './conformance-case.ts'
import type { DeliveryKind, Harness } from './harness.ts'

const ALL_EVENTS = Object.keys(EVENTS) as LifecycleEvent[]

/** Every state × event of the lifecycle table, for once and recurring alarms. */
export const lifecycleCases: readonly ConformanceCase[] = [false, true].flatMap((recurring) =>
  reachable(recurring).flatMap((state) =>
    ALL_EVENTS.filter((event) => recurring || event !== 'ran_out').flatMap((event) => {
      const expected = expectation(state, event, recurring)
      const kind = recurring ? 'recurring' : 'once'
      return casesOf('lifecycle', {
        [`${kind} ${state} × ${event} → ${expected}`]: (harness) =>
          causeEvent(harness, state, event, recurring, expected),
      })
    }),
  ),
)

/** The states that an alarm can reach. A recurring alarm's occurrences end in the others, but the alarm does not. */
function reachable(recurring: boolean): State[] {
  const found = new Set<State>(['active'])
  for (const state of found) {
    for (const event of ALL_EVENTS) {
      const cell = nextCell(state, event, recurring)
      if (STATES.includes(cell as State)) found.add(cell as State)
    }
  }
  return STATES.filter((state) => found.has(state))
}

/** What the table says, except where a store's port is stricter. */
function expectation(state: State, event: LifecycleEvent, recurring: boolean): string {
  const cell = nextCell(state, event, recurring)
  // An alarm with one occurrence has no next one to skip.
  if (event === 'skip_next' && !recurring && STATES.includes(cell as State)) return 'invalid_request'
  // It was delivered already: only a repetition of that outcome can arrive.
  return event === 'delivered' && state === 'awaiting' ? state : cell
}

async function causeEvent(
  harness: Harness,
  state: State,
  event: LifecycleEvent,
  recurring: boolean,
  expected: string,
): Promise<void> {
  const alarm = await reach(harness, state, event, recurring)
  assert.equal(await harness.state(alarm.id), state, 'the alarm was brought into its state')
  const before = [await harness.get(alarm.id), await harness.events()]
  try {
    await EVENT_STEPS[event](alarm)
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    assert.equal(thrown.code, expected)
    assert.deepEqual(
      [await harness.get(alarm.id), await harness.events()],
      before,
      'a refusal changes nothing',
    )
    return
  }
  assert.equal(await harness.state(alarm.id), expected)
}

type EventStep = (at: AlarmInState) => Promise<unknown>

const LATER_MS = 48 * HOUR_MS

/** How to cause each lifecycle event through the store's port. Throws if the event is refused. */
const EVENT_STEPS: Readonly<Record<LifecycleEvent, EventStep>> = {
  delivered: (at) => outcome(at, 'delivered'),
  delivered_unreported: (at) => outcome(at, 'delivered'),
  attempt_failed: (at) => (at.state === 'awaiting' ? reported(at, false) : outcome(at, 'failed')),
  // An alarm that timed out has no delivery left that could fail; a report can still say that it failed.
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
    const expected = isEnd(at.state) ? 'restarted' : 'replaced'
    assert.deepEqual([outcome, snapshot.alarm.id], [expected, at.id])
  },
}

function edit(at: AlarmInState, decide: (snapshot: Snapshot, context: Context) => Change): Promise<unknown> {
  return at.harness.edit(at.id, decide)
}

function reported(at: AlarmInState, ok: boolean): Promise<unknown> {
  return edit(at, (found, context) => report(found, { ok, text: 'said so' }, context))
}

/** The outcome of a delivery. If the alarm no longer waits for it, it is a repetition and must be rejected. */
async function outcome(at: AlarmInState, delivery: DeliveryKind): Promise<void> {
  const { lost, stale } = await at.harness.settle(at.claimed!, delivery)
  const waits = at.state === 'active' || at.state === 'paused'
  assert.deepEqual({ lost, stale }, { lost: [], stale: waits ? 0 : 1 })
}

/** Time passes, and the shard's holder claims. */
async function later({ harness, leases }: AlarmInState, ms: number): Promise<void> {
  harness.clock.step(ms)
  const { timers: claimed } = await harness.claim(leases)
  assert.deepEqual(claimed, [], 'nothing is delivered')
}
