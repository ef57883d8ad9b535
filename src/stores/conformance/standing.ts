import { type LifecycleEvent, pause, report, type SetOptions, type State } from '../../alarm/index.ts'
import type { ClaimedTimer, Lease } from '../store.ts'
import type { Bench } from './bench.ts'

/** An alarm that was brought into a state, and what is needed to go on from there. */
export interface Standing {
  readonly bench: Bench
  readonly leases: readonly Lease[]
  readonly id: string
  readonly state: State
  readonly recurring: boolean
  /** The occurrence being delivered, or, of an alarm that ended, the one it ended with. */
  readonly taking: ClaimedTimer | null
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
  bench: Bench,
  state: State,
  event: LifecycleEvent,
  recurring: boolean,
): Promise<Standing> {
  const leases = await bench.own()
  const when = recurring
    ? {
        every: '1h',
        misfire: 'skip' as const,
        ...((state === 'completed' || event === 'ran_out') && { count: 1 }),
      }
    : { delay: '1h', misfire: 'skip' as const }
  const id = await bench.alarm(when, optionsFor(state, event, recurring))
  const standing = { bench, leases, id, state, recurring, taking: null }
  return { ...standing, taking: await WAYS[state](standing, event) }
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

type Way = (standing: Standing, event: LifecycleEvent) => Promise<ClaimedTimer | null>

const WAYS: Readonly<Record<State, Way>> = {
  async active(standing, event) {
    if (event === 'report_overdue' && standing.recurring) return delivered(standing)
    return FLYING.includes(event) || event === 'reported' ? fly(standing) : null
  },
  async paused(standing, event) {
    if (event === 'report_overdue' && standing.recurring) await delivered(standing)
    if (FLYING.includes(event)) return pauseInFlight(standing)
    await standing.bench.edit(standing.id, pause)
    return null
  },
  awaiting: delivered,
  fired: delivered,
  async completed(standing) {
    const taking = await delivered(standing)
    if ((await standing.bench.state(standing.id)) !== 'completed')
      await standing.bench.edit(standing.id, (found, context) =>
        report(found, { ok: true, text: 'done' }, context),
      )
    return taking
  },
  async failed(standing) {
    const taking = await fly(standing)
    await standing.bench.settle(taking, 'failed')
    return taking
  },
  async timed_out(standing) {
    const taking = await delivered(standing)
    standing.bench.clock.step(REPORT_MS)
    await standing.bench.take(standing.leases)
    return taking
  },
  async cancelled(standing) {
    const taking = await fly(standing)
    await standing.bench.settle(taking, 'failed')
    await standing.bench.cancel(standing.id)
    return taking
  },
}

async function fly({ bench, leases }: Standing): Promise<ClaimedTimer> {
  bench.clock.step(HOUR_MS)
  return bench.takeOne(leases)
}

async function delivered(standing: Standing): Promise<ClaimedTimer> {
  const taking = await fly(standing)
  await standing.bench.settle(taking, 'delivered')
  return taking
}

/** A once alarm refuses to be paused while it fires, so that its record is written as if it had been. */
async function pauseInFlight(standing: Standing): Promise<ClaimedTimer> {
  const taking = await fly(standing)
  await standing.bench.edit(standing.id, ({ alarm }, { now }) => ({
    alarm: { ...alarm, pausedAt: now, updatedAt: alarm.updatedAt + 1 },
    markEdited: [taking.timer.id],
  }))
  return taking
}
