import { type LifecycleEvent, pause, report, type SetOptions, type State } from '../../alarm/index.ts'
import type { ClaimedTimer, Lease } from '../store.ts'
import type { Harness } from './harness.ts'

/** An alarm in a certain state, and what is needed to continue from there. */
export interface AlarmInState {
  readonly harness: Harness
  readonly leases: readonly Lease[]
  readonly id: string
  readonly state: State
  readonly recurring: boolean
  /** The occurrence being delivered, or, of an alarm that ended, the one it ended with. */
  readonly claimed: ClaimedTimer | null
}

/** The key of every alarm brought into a state, so that it can be set again. */
export const KEY = 'in-state'
export const HOUR_MS = 3_600_000
export const REPORT_MS = 300_000

/** Events that are the outcome of a delivery in progress. */
const DELIVERY_EVENTS: readonly LifecycleEvent[] = [
  'delivered',
  'delivered_unreported',
  'attempt_failed',
  'exhausted',
  'target_gone',
  'ran_out',
]
const REPORTED: readonly (State | LifecycleEvent)[] = [
  'awaiting',
  'delivered_unreported',
  'reported',
  'report_overdue',
]

/** Brings a new alarm into a state, in a way that the event can happen to it next. */
export async function reach(
  harness: Harness,
  state: State,
  event: LifecycleEvent,
  recurring: boolean,
): Promise<AlarmInState> {
  const leases = await harness.heartbeat()
  const when = recurring
    ? {
        every: '1h',
        misfire: 'skip' as const,
        ...((state === 'completed' || event === 'ran_out') && { count: 1 }),
      }
    : { delay: '1h', misfire: 'skip' as const }
  const id = await harness.alarm(when, optionsFor(state, event, recurring))
  const alarm = { harness, leases, id, state, recurring, claimed: null }
  return { ...alarm, claimed: await WAYS[state](alarm, event) }
}

function optionsFor(state: State, event: LifecycleEvent, recurring: boolean): SetOptions {
  const reports =
    REPORTED.includes(state) ||
    REPORTED.includes(event) ||
    state === 'timed_out' ||
    (state === 'completed' && !recurring)
  const isLast = state === 'failed' || (event === 'exhausted' && state !== 'cancelled')
  return {
    key: KEY,
    // An alarm that ends `fired` must not await a report.
    ack: reports && state !== 'fired' ? 'report' : 'delivery',
    maxFailures: isLast ? 1 : 3,
    completionTimeout: `${REPORT_MS}ms`,
  }
}

type Way = (alarm: AlarmInState, event: LifecycleEvent) => Promise<ClaimedTimer | null>

const WAYS: Readonly<Record<State, Way>> = {
  async active(alarm, event) {
    if (event === 'report_overdue' && alarm.recurring) return delivered(alarm)
    return DELIVERY_EVENTS.includes(event) || event === 'reported' ? claimDue(alarm) : null
  },
  async paused(alarm, event) {
    if (event === 'report_overdue' && alarm.recurring) await delivered(alarm)
    if (DELIVERY_EVENTS.includes(event)) return pauseInFlight(alarm)
    await alarm.harness.edit(alarm.id, pause)
    return null
  },
  awaiting: delivered,
  fired: delivered,
  async completed(alarm) {
    const claimed = await delivered(alarm)
    if ((await alarm.harness.state(alarm.id)) !== 'completed')
      await alarm.harness.edit(alarm.id, (found, context) =>
        report(found, { ok: true, text: 'done' }, context),
      )
    return claimed
  },
  async failed(alarm) {
    const claimed = await claimDue(alarm)
    await alarm.harness.settle(claimed, 'failed')
    return claimed
  },
  async timed_out(alarm) {
    const claimed = await delivered(alarm)
    alarm.harness.clock.step(REPORT_MS)
    await alarm.harness.claim(alarm.leases)
    return claimed
  },
  async cancelled(alarm) {
    const claimed = await claimDue(alarm)
    await alarm.harness.settle(claimed, 'failed')
    await alarm.harness.cancel(alarm.id)
    return claimed
  },
}

async function claimDue({ harness, leases }: AlarmInState): Promise<ClaimedTimer> {
  harness.clock.step(HOUR_MS)
  return harness.claimOne(leases)
}

async function delivered(alarm: AlarmInState): Promise<ClaimedTimer> {
  const claimed = await claimDue(alarm)
  await alarm.harness.settle(claimed, 'delivered')
  return claimed
}

/** A once alarm refuses a pause while it fires, so the row is written as if it had been paused. */
async function pauseInFlight(alarm: AlarmInState): Promise<ClaimedTimer> {
  const claimed = await claimDue(alarm)
  await alarm.harness.edit(alarm.id, ({ alarm }, { now }) => ({
    alarm: { ...alarm, pausedAt: now, updatedAt: alarm.updatedAt + 1 },
    markEdited: [claimed.timer.id],
  }))
  return claimed
}
