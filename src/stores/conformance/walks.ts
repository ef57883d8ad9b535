import assert from 'node:assert/strict'
import {
  type Change,
  type Context,
  fireNow,
  pause,
  recurs,
  replace,
  report,
  resume,
  retry,
  type Snapshot,
  skipNext,
  snooze,
} from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { ClaimedTimer, Lease } from '../store.ts'
import { type ConformanceCase, casesOf } from './conformance-case.ts'
import type { DeliveryKind, Harness } from './harness.ts'
import { assertInvariants } from './invariants.ts'

const WALKS = 12
const STEPS = 120

type Verb = (snapshot: Snapshot, context: Context) => Change

const VERBS: readonly Verb[] = [
  pause,
  resume,
  skipNext,
  fireNow,
  retry,
  (snapshot, context) => report(snapshot, { ok: true, text: 'done' }, context),
  (snapshot, context) => report(snapshot, { ok: false, text: 'broken' }, context),
  (snapshot, context) =>
    replace(snapshot, { alarm: snapshot.alarm, first: context.now + 60_000 }, 'reschedule', context),
  snoozeFor(10_000),
  snoozeFor(90_000),
]

/** As the library snoozes: a one-shot alarm moves, and of a recurring one, one occurrence. */
function snoozeFor(ms: number): Verb {
  return function snoozed(snapshot, context) {
    const first = context.now + ms
    if (recurs(snapshot.alarm)) return snooze(snapshot, { first, notes: [] }, context)
    const event = (snapshot.outcome?.status ?? null) === null ? 'reschedule' : 'set_again'
    return replace(snapshot, { alarm: snapshot.alarm, first }, event, context)
  }
}

const OUTCOMES: readonly DeliveryKind[] = ['delivered', 'delivered', 'failed', 'failed', 'released']

/** Whatever is called in whatever order, figures, timers and records stay true. A seed names each walk. */
export const walkCases: readonly ConformanceCase[] = Array.from({ length: WALKS }, (_, i) => i + 1).flatMap(
  (seed) =>
    casesOf('walks', {
      [`keeps its promises through any sequence of calls, seed ${seed}`]: (harness) => walk(harness, seed),
    }),
)

async function walk(harness: Harness, seed: number): Promise<void> {
  const chance = new Chance(seed)
  const ids = await settle(harness, chance)
  const going: Going = { leases: await harness.heartbeat(), inFlight: [] }
  const story: string[] = []
  for (let step = 0; step < STEPS; step++) {
    const id = chance.of(ids)
    story.push(await act(harness, chance, id, going))
    try {
      await assertInvariants(harness)
    } catch (thrown) {
      const logged = await Promise.all(ids.map((each) => harness.types(each)))
      assert.fail(`${(thrown as Error).message}\n${story.slice(-12).join('\n')}\n${logged.join('\n')}`)
    }
  }
}

interface Going {
  leases: readonly Lease[]
  inFlight: ClaimedTimer[]
}

async function settle(harness: Harness, chance: Chance): Promise<string[]> {
  const ids: string[] = []
  for (const [i, when] of [
    { delay: '1m' },
    { every: '1m' },
    { every: '1m', count: 4 },
    { delay: '2m' },
  ].entries()) {
    ids.push(
      await harness.alarm(when, {
        key: `k${i}`,
        ack: chance.of(['delivery', 'report']),
        overlap: chance.of(['skip', 'queue', 'allow']),
        maxFailures: chance.of([1, 3]),
        completionTimeout: '3m',
        backoff: { baseMs: 20_000 },
      }),
    )
  }
  return ids
}

/** One thing happens, said in words. Refusals are part of life. */
async function act(harness: Harness, chance: Chance, id: string, going: Going): Promise<string> {
  const which = chance.below(10)
  if (which < 2) {
    const ms = chance.of([1, 20_000, 60_000, 150_000])
    harness.clock.step(ms)
    return `${ms} ms pass`
  }
  if (which < 5) return take(harness, going)
  if (which < 7) return settleOne(harness, chance, going)
  if (which === 7 && chance.below(3) === 0) return takeOver(harness, going)
  if (which === 8 && chance.below(3) === 0) return `cancel ${id}: ${await harness.cancel(id)}`
  if (which === 8 && chance.below(3) === 0) return setAgain(harness, id)
  const verb = chance.of(VERBS)
  try {
    await harness.edit(id, verb)
    return `${id} ${String(verb).slice(0, 80)}`
  } catch (thrown) {
    if (!(thrown instanceof WakefulError) || thrown.code === 'internal') throw thrown
    return `${id} refused: ${thrown.message}`
  }
}

async function take(harness: Harness, going: Going): Promise<string> {
  const inFlight = {
    size: going.inFlight.length,
    has: (timer: number, version: number) =>
      going.inFlight.some((each) => each.timer.id === timer && each.timer.version === version),
  }
  const { timers: claimed } = await harness.claim(going.leases, { inFlight })
  for (const { alarm, timer } of claimed) {
    assert.ok(timer.scheduledFor <= harness.now, 'never early')
    const state = await harness.state(alarm.id)
    assert.ok(state === 'active' || (state === 'paused' && recurs(alarm)), `one that is ${state} fires`)
  }
  going.inFlight.push(...claimed)
  return `take: ${claimed.map(({ alarm }) => alarm.id).join(' ') || 'none'}`
}

async function settleOne(harness: Harness, chance: Chance, going: Going): Promise<string> {
  const claimed = going.inFlight.splice(chance.below(going.inFlight.length || 1), 1)[0]
  if (claimed === undefined) return 'nothing is in flight'
  const outcome = chance.of(OUTCOMES)
  // Only the last settle of a batch ends it.
  const { lease, alarm, timer, batch } = claimed
  const batches = going.inFlight.some((each) => each.batch === batch) ? [] : [batch]
  await harness.store.settle(
    [{ lease, alarm, timer, delivery: harness.delivery(outcome) }],
    batches,
    harness.context(),
  )
  return `${alarm.id} ${outcome}`
}

async function takeOver(harness: Harness, going: Going): Promise<string> {
  await harness.store.releaseLeases(going.leases)
  going.leases = await harness.heartbeat('another')
  // What the former owner was delivering may still end, in vain.
  await harness.settle(going.inFlight, 'delivered')
  going.inFlight = []
  return 'takeover'
}

async function setAgain(harness: Harness, id: string): Promise<string> {
  const { key } = (await harness.get(id)).alarm
  await harness.set({ delay: '1m' }, { key: key!, ack: 'report', completionTimeout: '3m' })
  return `${id} set again`
}

/** Chance that can be repeated: a linear congruential generator. */
class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed * 7919
  }

  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * n)
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}
