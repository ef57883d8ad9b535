import type { InFlightSet } from '../../../src/engine/in-flight-set.ts'
import type { ClaimedTimer, Lease } from '../../../src/stores/index.ts'
import type { Breach } from '../judge.ts'
import type { Process } from '../process.ts'
import { readRows, type TimerRow } from '../rows.ts'
import type { Scenario, Scene } from '../scenario.ts'
import type { World } from '../world.ts'
import { clockMoves, flying, LEASE_OVER_MS } from './setups.ts'

/** What wakes within this time is told, so that the owner must know of it without a beat. */
const TOLD_MS = 2_500
const RETRY_MS = 1_000
const RETRIES = { backoff: { baseMs: RETRY_MS, capMs: RETRY_MS } } as const
const ELSEWHERE = { handler: 'x', pool: 'other' } as const
/** A look and a commit may be over long before whoever asked hears of it. */
const LATE = ['peekShards', 'nextTimers', 'dueTimers', 'beat', 'COMMIT']
const POOLS = ['app', 'other']

/** An owner that has looked: it knows that nothing waits for an hour but what it is delivering. */
interface Watch {
  readonly one: Process
  readonly two: Process
  readonly leases: readonly Lease[]
  readonly takings: readonly ClaimedTimer[]
  readonly held: InFlightSet
}

async function watching(world: World, isLate = true): Promise<Watch> {
  const { one, two, leases, takings } = await flying(world, { delay: '1h' }, RETRIES)
  await two.bench.alarm({ delay: '1h' })
  const held = new world.subject.InFlightSet()
  for (const { timer } of takings) held.add(timer.id, timer.version)
  await world.watch(one, () => {})
  // The first finds what is in flight, the second what comes after it.
  await one.take(leases, held)
  await one.take(leases, held)
  // Something to find, so that the looks of the schedule are looks.
  await two.bench.alarm(at(world, 0))
  await world.hear()
  if (isLate) one.gate.lateAnswers = LATE
  return { one, two, leases, takings, held }
}

/** The same with nothing in flight: it has seen that nothing waits for an hour. */
async function resting(world: World): Promise<Watch> {
  const { one, two, leases, takings } = await flying(world)
  await two.bench.alarm({ delay: '1h' })
  await one.settle(takings)
  await world.watch(one, () => {})
  const held = new world.subject.InFlightSet()
  await one.take(leases, held)
  one.gate.lateAnswers = LATE
  return { one, two, leases, takings: [], held }
}

/** An instant, as a user names it. */
function at(world: World, inMs: number) {
  return { at: new Date(world.clock.now() + inMs).toISOString() }
}

/** Takes; again where the answer was lost, as the engine does. */
async function takeSurely({ one, leases, held }: Watch): Promise<void> {
  await one.take(leases, held).catch(() => one.take(leases, held))
}

/** What wakes and is not in hand, in the shards of these leases. */
async function freeTimers(world: World, leases: readonly Lease[], held: InFlightSet) {
  const shards = new Set(leases.map(({ shard }) => shard))
  const isFree = (timer: TimerRow): timer is TimerRow & { wake_at: number } =>
    timer.wake_at !== null && shards.has(timer.shard) && !held.has(timer.id, timer.version)
  return (await readRows(world)).timers.filter(isFree)
}

/**
 * Without a beat and without a sweep, the owner's next look finds everything that is due, and says when the next comes:
 * else a place was raised too far, and something is late until a beat finds it.
 */
async function findsAll(world: World, owner: Process, leases: readonly Lease[], held: InFlightSet) {
  const until = world.clock.now() + TOLD_MS
  for (;;) {
    const { nextWakeAt, more } = await owner.take(leases, held)
    const now = world.clock.now()
    const left = await freeTimers(world, leases, held)
    const missed = left.filter(({ wake_at }) => wake_at <= now)
    if (missed.length > 0 && !more) return passedOver(`timer ${missed[0]!.id} is due and was not found`)
    const next = Math.min(...left.map(({ wake_at }) => wake_at).filter((wakeAt) => wakeAt > now))
    if (next > until) return []
    if ((nextWakeAt ?? Number.POSITIVE_INFINITY) > next)
      return passedOver(`the owner waits for ${nextWakeAt ?? 'nothing'}, and something wakes at ${next}`)
    world.clock.step(next - now)
  }
}

/** An owner that claims what it can get and takes from it, in the course of the schedule or else at its end. */
function claiming(world: World, owner: Process, held: InFlightSet) {
  let leases: readonly Lease[] = []
  return {
    claim: async () => {
      leases = await owner.own()
      if (leases.length > 0) await owner.take(leases, held)
    },
    judge: async () => {
      if (leases.length === 0) leases = await owner.own()
      return findsAll(world, owner, leases, held)
    },
  }
}

function passedOver(what: string): Breach[] {
  return [{ promise: 'at-least-once', what: `${what} without a beat` }]
}

function sceneOf(
  world: World,
  watch: Watch,
  acts: readonly (readonly [Process, () => Promise<unknown>])[],
): Scene {
  return {
    judge: () => findsAll(world, watch.one, watch.leases, watch.held),
    actors: acts.map(([{ name: process }, act]) => ({ process, act })),
  }
}

/** What races for the places up to which an owner believes that nothing waits. */
export const lookoutScenarios: readonly Scenario[] = [
  {
    name: 'take | settle that retries | set told by another, the same instant',
    isOfThree: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, takings, held } = watch
      return sceneOf(world, watch, [
        [one, () => one.take(leases, held)],
        [one, () => one.settle(takings, 'failed', held)],
        [two, () => two.set(at(world, RETRY_MS))],
      ])
    },
  },
  {
    name: 'take of one that is due | settle that retries | set told by another, all due now',
    isOfThree: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, takings, held } = watch
      const released = { kind: 'released' } as const
      return sceneOf(world, watch, [
        [one, () => one.take(leases, held)],
        [one, () => one.settle(takings, released, held)],
        [two, () => two.set(at(world, 0))],
      ])
    },
  },
  {
    name: 'beat | settle that retries | take, of one owner',
    isOfThree: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, leases, takings, held } = watch
      return sceneOf(world, watch, [
        [one, () => one.own()],
        [one, () => one.settle(takings, 'failed', held)],
        [one, () => one.take(leases, held)],
      ])
    },
  },
  {
    name: 'beat | set told by another | take',
    isOfThree: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, held } = watch
      return sceneOf(world, watch, [
        [one, () => one.own()],
        [two, () => two.set(at(world, 0))],
        [one, () => one.take(leases, held)],
      ])
    },
  },
  {
    name: 'beat | set told by another, the clock moves, take',
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, held } = watch
      const takeThen = async () => {
        await one.take(leases, held)
        await clockMoves(world, one, RETRY_MS)
        await one.take(leases, held)
      }
      return sceneOf(world, watch, [
        [one, () => one.own()],
        [one, takeThen],
        [two, () => two.set(at(world, RETRY_MS))],
      ])
    },
  },
  {
    name: 'two sets told to one that rests | beat and take',
    isOfThree: true,
    async setUp(world) {
      const watch = await resting(world)
      const { one, two, leases, held } = watch
      const three = await world.process('three')
      const beatThenTake = async () => {
        await one.own()
        await one.take(leases, held)
      }
      return sceneOf(world, watch, [
        [one, beatThenTake],
        [two, () => two.set(at(world, RETRY_MS))],
        [three, () => three.set(at(world, 0))],
      ])
    },
  },
  {
    name: 'two sets of the same instant, numbered one way and committed the other | take twice',
    isOfThree: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, held } = watch
      const three = await world.process('three')
      const takeTwice = async () => {
        await one.take(leases, held)
        await one.take(leases, held)
      }
      // By key: without one a set is a single statement, which is numbered and committed in one go.
      return sceneOf(world, watch, [
        [one, takeTwice],
        [two, () => two.set(at(world, 0), { key: 'two' })],
        [three, () => three.set(at(world, 0), { key: 'three' })],
      ])
    },
  },
  {
    name: 'set of the owner itself | take | set told by another, the same instant',
    isOfThree: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, held } = watch
      return sceneOf(world, watch, [
        [one, () => one.set(at(world, 0))],
        [one, () => one.take(leases, held)],
        [two, () => two.set(at(world, 0))],
      ])
    },
  },
  {
    name: 'resume told by another | take',
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, held } = watch
      const id = await two.bench.alarm(at(world, 0))
      const { pause, resume } = world.subject.alarm
      await two.edit('pause', id, pause)
      await world.hear()
      return sceneOf(world, watch, [
        [one, () => one.take(leases, held)],
        [two, () => two.edit('resume', id, resume)],
      ])
    },
  },
  ...(['failed', 'released'] as const).map(
    (came): Scenario => ({
      name: `settle (${came}) whose commit loses its answer | take`,
      refusals: ['store_unavailable'],
      async setUp(world) {
        const watch = await watching(world, false)
        const { one, two, takings, held } = watch
        one.gate.faults.push({ name: 'COMMIT', loses: 'answer' })
        return sceneOf(world, watch, [
          [one, () => one.settle(takings, came, held)],
          [one, () => takeSurely(watch)],
          // The second time it is settled, its retry would come later.
          [two, () => clockMoves(world, two, 300)],
        ])
      },
    }),
  ),
  {
    name: 'set of the owner itself whose commit loses its answer | take',
    refusals: ['store_unavailable'],
    async setUp(world) {
      const watch = await watching(world, false)
      const { one } = watch
      one.gate.faults.push({ name: 'COMMIT', loses: 'answer' })
      return sceneOf(world, watch, [
        [one, () => one.set(at(world, RETRY_MS), { key: 'one' })],
        [one, () => takeSurely(watch)],
      ])
    },
  },
  {
    name: 'target moved to another pool | take of its owner',
    async setUp(world) {
      const [one, two] = [await world.process('one'), await world.process('two')]
      const id = await two.bench.alarm(at(world, RETRY_MS))
      for (const target of ['remind', ELSEWHERE]) await two.bench.alarm({ delay: '1h' }, { target })
      await world.watch(one, () => {})
      const held = new world.subject.InFlightSet()
      const leases = await one.own('one', POOLS)
      await one.take(leases, held)
      // Something to find, so that the look of the schedule is a look.
      await two.bench.alarm(at(world, 0))
      await world.hear()
      const target = two.bench.request({ delay: '1h' }, { target: ELSEWHERE }).alarm.target
      return sceneOf(world, { one, two, leases, takings: [], held }, [
        [one, () => one.take(leases, held)],
        [
          two,
          () =>
            two.edit('amend', id, (found, context) => world.subject.alarm.amend(found, { target }, context)),
        ],
      ])
    },
  },
  {
    name: 'a shard comes back: set of its owner of meanwhile | take of the one before',
    async setUp(world) {
      const { one, two, held } = await resting(world)
      world.clock.step(LEASE_OVER_MS)
      const theirs = await two.own()
      const giveBack = async () => {
        await two.set(at(world, 0))
        await two.disown(theirs)
      }
      const { claim, judge } = claiming(world, one, held)
      return {
        judge,
        actors: [
          { process: 'two', act: giveBack },
          { process: 'one', act: claim },
        ],
      }
    },
  },
  {
    name: 'set of an owner whose lease has ended | takeover and take',
    async setUp(world) {
      const { one, two, leases: before, held } = await resting(world)
      await one.disown(before)
      await two.own()
      world.clock.step(LEASE_OVER_MS)
      const { claim, judge } = claiming(world, one, held)
      return {
        judge,
        actors: [
          { process: 'one', act: claim },
          { process: 'two', act: () => two.set(at(world, 0)) },
        ],
      }
    },
  },
]
