import { type LifecycleEvent, pause, report, type SetOptions, type State } from '../../alarm/index.ts'
import type { ClaimedTimer, Lease } from '../store.ts'
import type { Harness } from './harness.ts'

/** An alarm that was brought into a state, and what is needed to go on from there. */
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
export const KEY = 'standing'
export const HOUR_MS = 3_600_000
export const REPORT_MS = 300_000

/** Events that are the outcome of a delivery under way. */
const FLYING: readonly LifecycleEvent[] = [
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

/** Brings a new alarm into a state, in the way that lets the event happen to it next. */
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
  const standing = { harness, leases, id, state, recurring, claimed: null }
  return { ...standing, claimed: await WAYS[state](standing, event) }
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
    // An alarm that is to end `fired` must not await a report, whatever happens to it afterwards.
    ack: reports && state !== 'fired' ? 'report' : 'delivery',
    maxFailures: isLast ? 1 : 3,
    completionTimeout: `${REPORT_MS}ms`,
  }
}

type Way = (standing: AlarmInState, event: LifecycleEvent) => Promise<ClaimedTimer | null>

const WAYS: Readonly<Record<State, Way>> = {
  async active(standing, event) {
    if (event === 'report_overdue' && standing.recurring) return delivered(standing)
    return FLYING.includes(event) || event === 'reported' ? claimDue(standing) : null
  },
  async paused(standing, event) {
    if (event === 'report_overdue' && standing.recurring) await delivered(standing)
    if (FLYING.includes(event)) return pauseInFlight(standing)
    await standing.harness.edit(standing.id, pause)
    return null
  },
  awaiting: delivered,
  fired: delivered,
  async completed(standing) {
    const claimed = await delivered(standing)
    if ((await standing.harness.state(standing.id)) !== 'completed')
      await standing.harness.edit(standing.id, (found, context) =>
        report(found, { ok: true, text: 'done' }, context),
      )
    return claimed
  },
  async failed(standing) {
    const claimed = await claimDue(standing)
    await standing.harness.settle(claimed, 'failed')
    return claimed
  },
  async timed_out(standing) {
    const claimed = await delivered(standing)
    standing.harness.clock.step(REPORT_MS)
    await standing.harness.claim(standing.leases)
    return claimed
  },
  async cancelled(standing) {
    const claimed = await claimDue(standing)
    await standing.harness.settle(claimed, 'failed')
    await standing.harness.cancel(standing.id)
    return claimed
  },
}

async function claimDue({ harness, leases }: AlarmInState): Promise<ClaimedTimer> {
  harness.clock.step(HOUR_MS)
  return harness.claimOne(leases)
}

async function delivered(standing: AlarmInState): Promise<ClaimedTimer> {
  const claimed = await claimDue(standing)
  await standing.harness.settle(claimed, 'delivered')
  return claimed
}

/** A once alarm refuses to be paused while it fires, so that its record is written as if it had been. */
async function pauseInFlight(standing: AlarmInState): Promise<ClaimedTimer> {
  const claimed = await claimDue(standing)
  await standing.harness.edit(standing.id, ({ alarm }, { now }) => ({
    alarm: { ...alarm, pausedAt: now, updatedAt: alarm.updatedAt + 1 },
    markEdited: [claimed.timer.id],
  }))
  return claimed
}
