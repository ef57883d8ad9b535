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
} from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { ClaimedTimer, Lease } from '../store.ts'
import type { Bench, Came } from './bench.ts'
import { type ConformanceCase, casesOf } from './conformance-case.ts'
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
]
const CAMES: readonly Came[] = ['delivered', 'delivered', 'failed', 'failed', 'released']

/** Whatever is called in whatever order, figures, timers and records stay true. A seed names each walk. */
export const walkCases: readonly ConformanceCase[] = Array.from({ length: WALKS }, (_, i) => i + 1).flatMap(
  (seed) =>
    casesOf('walks', {
      [`keeps its promises through any sequence of calls, seed ${seed}`]: (bench) => walk(bench, seed),
    }),
)

async function walk(bench: Bench, seed: number): Promise<void> {
  const chance = new Chance(seed)
  const ids = await settle(bench, chance)
  const going: Going = { leases: await bench.own(), flying: [] }
  const story: string[] = []
  for (let step = 0; step < STEPS; step++) {
    const id = chance.of(ids)
    story.push(await act(bench, chance, id, going))
    try {
      await assertInvariants(bench)
    } catch (thrown) {
      const told = await Promise.all(ids.map((each) => bench.types(each)))
      assert.fail(`${(thrown as Error).message}\n${story.slice(-12).join('\n')}\n${told.join('\n')}`)
    }
  }
}

interface Going {
  leases: readonly Lease[]
  flying: ClaimedTimer[]
}

async function settle(bench: Bench, chance: Chance): Promise<string[]> {
  const ids: string[] = []
  for (const [i, when] of [
    { delay: '1m' },
    { every: '1m' },
    { every: '1m', count: 4 },
    { delay: '2m' },
  ].entries()) {
    ids.push(
      await bench.alarm(when, {
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
async function act(bench: Bench, chance: Chance, id: string, going: Going): Promise<string> {
  const which = chance.below(10)
  if (which < 2) {
    const ms = chance.of([1, 20_000, 60_000, 150_000])
    bench.clock.step(ms)
    return `${ms} ms pass`
  }
  if (which < 5) return take(bench, going)
  if (which < 7) return land(bench, chance, going)
  if (which === 7 && chance.below(3) === 0) return takeOver(bench, going)
  if (which === 8 && chance.below(3) === 0) return `cancel ${id}: ${await bench.cancel(id)}`
  if (which === 8 && chance.below(3) === 0) return setAgain(bench, id)
  const verb = chance.of(VERBS)
  try {
    await bench.edit(id, verb)
    return `${id} ${String(verb).slice(0, 80)}`
  } catch (thrown) {
    if (!(thrown instanceof WakefulError) || thrown.code === 'internal') throw thrown
    return `${id} refused: ${thrown.message}`
  }
}

async function take(bench: Bench, going: Going): Promise<string> {
  const held = {
    size: going.flying.length,
    has: (timer: number, version: number) =>
      going.flying.some((each) => each.timer.id === timer && each.timer.version === version),
  }
  const { timers: takings } = await bench.take(going.leases, { held })
  for (const { alarm, timer } of takings) {
    assert.ok(timer.scheduledFor <= bench.now, 'never early')
    const state = await bench.state(alarm.id)
    assert.ok(state === 'active' || (state === 'paused' && recurs(alarm)), `one that is ${state} fires`)
  }
  going.flying.push(...takings)
  return `take: ${takings.map(({ alarm }) => alarm.id).join(' ') || 'none'}`
}

async function land(bench: Bench, chance: Chance, going: Going): Promise<string> {
  const taking = going.flying.splice(chance.below(going.flying.length || 1), 1)[0]
  if (taking === undefined) return 'nothing flies'
  const came = chance.of(CAMES)
  // Only the last of a flight lands it: the others are still in the air.
  const { lease, alarm, timer, batch: flight } = taking
  const landed = going.flying.some((each) => each.batch === flight) ? [] : [flight]
  await bench.store.settle([{ lease, alarm, timer, delivery: bench.delivery(came) }], landed, bench.context())
  return `${alarm.id} ${came}`
}

async function takeOver(bench: Bench, going: Going): Promise<string> {
  await bench.store.releaseLeases(going.leases)
  going.leases = await bench.own('another')
  // What the former owner was delivering may still end, in vain.
  await bench.settle(going.flying, 'delivered')
  going.flying = []
  return 'takeover'
}

async function setAgain(bench: Bench, id: string): Promise<string> {
  const { key } = (await bench.get(id)).alarm
  await bench.set({ delay: '1m' }, { key: key!, ack: 'report', completionTimeout: '3m' })
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
