import type { InFlightSet } from '../../../src/engine/in-flight-set.ts'
import type { ClaimedTimer, Lease } from '../../../src/stores/index.ts'
import type { Breach } from '../judge.ts'
import type { Process } from '../process.ts'
import { readRows, type TimerRow } from '../rows.ts'
import type { Scenario, Scene } from '../scenario.ts'
import type { World } from '../world.ts'
import { clockMoves, inFlightAlarm, LEASE_OVER_MS } from './setups.ts'

/** Wakes within this time send a notice, so the lease holder must know of them without a heartbeat. */
const NOTIFIED_MS = 2_500
const RETRY_MS = 1_000
const RETRIES = { backoff: { baseMs: RETRY_MS, capMs: RETRY_MS } } as const
const ELSEWHERE = { handler: 'x', pool: 'other' } as const
/** Scans and commits whose answers may arrive much later. */
const LATE = ['peekShards', 'nextTimers', 'dueTimers', 'heartbeat', 'COMMIT'] as const
const POOLS = ['app', 'other']

/** A lease holder that has scanned its shard: nothing is due within an hour, except what it is delivering. */
interface Watch {
  readonly one: Process
  readonly two: Process
  readonly leases: readonly Lease[]
  readonly claimedTimers: readonly ClaimedTimer[]
  readonly inFlight: InFlightSet
}

async function watching(world: World, isLate = true): Promise<Watch> {
  const { one, two, leases, claimedTimers } = await inFlightAlarm(world, { delay: '1h' }, RETRIES)
  await two.bench.alarm({ delay: '1h' })
  const inFlight = new world.subject.InFlightSet()
  for (const { timer } of claimedTimers) inFlight.add(timer.id, timer.version)
  await world.watch(one, () => {})
  // The first scan finds what is in flight, the second what comes after it.
  await one.claim(leases, inFlight)
  await one.claim(leases, inFlight)
  // A timer to find, so that the claims of the schedule really scan.
  await two.bench.alarm(at(world, 0))
  await world.flushNotices()
  if (isLate) one.interceptor.lateAnswers = LATE
  return { one, two, leases, claimedTimers, inFlight }
}

/** The same with nothing in flight. */
async function resting(world: World): Promise<Watch> {
  const { one, two, leases, claimedTimers } = await inFlightAlarm(world)
  await two.bench.alarm({ delay: '1h' })
  await one.settle(claimedTimers)
  await world.watch(one, () => {})
  const inFlight = new world.subject.InFlightSet()
  await one.claim(leases, inFlight)
  one.interceptor.lateAnswers = LATE
  return { one, two, leases, claimedTimers: [], inFlight }
}

/** An instant as a user writes it. */
function at(world: World, inMs: number) {
  return { at: new Date(world.clock.now() + inMs).toISOString() }
}

/** Claims. Repeats the claim if the answer was lost, as the engine does. */
async function claimUntilAnswered({ one, leases, inFlight }: Watch): Promise<void> {
  await one.claim(leases, inFlight).catch(() => one.claim(leases, inFlight))
}

/** Waiting timers in the shards of these leases that are not in flight. */
async function freeTimers(world: World, leases: readonly Lease[], inFlight: InFlightSet) {
  const shards = new Set(leases.map(({ shard }) => shard))
  const isFree = (timer: TimerRow): timer is TimerRow & { wake_at: number } =>
    timer.wake_at !== null && shards.has(timer.shard) && !inFlight.has(timer.id, timer.version)
  return (await readRows(world)).timers.filter(isFree)
}

/**
 * The lease holder's next scan finds everything due, without a heartbeat or a sweep, and reports the next wake.
 * Otherwise a bound was raised too far, and a timer is late until a heartbeat finds it.
 */
async function findsAll(world: World, owner: Process, leases: readonly Lease[], inFlight: InFlightSet) {
  const until = world.clock.now() + NOTIFIED_MS
  for (;;) {
    const { nextWakeAt, more } = await owner.claim(leases, inFlight)
    const now = world.clock.now()
    const left = await freeTimers(world, leases, inFlight)
    const missed = left.filter(({ wake_at }) => wake_at <= now)
    if (missed.length > 0 && !more) return passedOver(`timer ${missed[0]!.id} is due and was not found`)
    const next = Math.min(...left.map(({ wake_at }) => wake_at).filter((wakeAt) => wakeAt > now))
    if (next > until) return []
    if ((nextWakeAt ?? Number.POSITIVE_INFINITY) > next)
      return passedOver(`the owner waits for ${nextWakeAt ?? 'nothing'}, and something wakes at ${next}`)
    world.clock.step(next - now)
  }
}

/** A process that acquires what is free and claims from it, during the schedule or at its end. */
function claiming(world: World, owner: Process, inFlight: InFlightSet) {
  let leases: readonly Lease[] = []
  return {
    claim: async () => {
      leases = await owner.acquire()
      if (leases.length > 0) await owner.claim(leases, inFlight)
    },
    judge: async () => {
      if (leases.length === 0) leases = await owner.acquire()
      return findsAll(world, owner, leases, inFlight)
    },
  }
}

function passedOver(what: string): Breach[] {
  return [{ promise: 'at-least-once', what: `${what} without a heartbeat` }]
}

function sceneOf(
  world: World,
  watch: Watch,
  acts: readonly (readonly [Process, () => Promise<unknown>])[],
): Scene {
  return {
    judge: () => findsAll(world, watch.one, watch.leases, watch.inFlight),
    actors: acts.map(([{ name: process }, act]) => ({ process, act })),
  }
}

/** Races for the bounds below which a lease holder assumes that no timer waits. */
export const nextWakeScenarios: readonly Scenario[] = [
  {
    name: 'claim | settle that retries | notified set of another process, the same instant',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, claimedTimers, inFlight } = watch
      return sceneOf(world, watch, [
        [one, () => one.claim(leases, inFlight)],
        [one, () => one.settle(claimedTimers, 'failed', inFlight)],
        [two, () => two.set(at(world, RETRY_MS))],
      ])
    },
  },
  {
    name: 'claim of a due timer | settle that retries | notified set of another process, all due now',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, claimedTimers, inFlight } = watch
      const released = { kind: 'released' } as const
      return sceneOf(world, watch, [
        [one, () => one.claim(leases, inFlight)],
        [one, () => one.settle(claimedTimers, released, inFlight)],
        [two, () => two.set(at(world, 0))],
      ])
    },
  },
  {
    name: 'heartbeat | settle that retries | claim, one lease holder',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, leases, claimedTimers, inFlight } = watch
      return sceneOf(world, watch, [
        [one, () => one.acquire()],
        [one, () => one.settle(claimedTimers, 'failed', inFlight)],
        [one, () => one.claim(leases, inFlight)],
      ])
    },
  },
  {
    name: 'heartbeat | notified set of another process | claim',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, inFlight } = watch
      return sceneOf(world, watch, [
        [one, () => one.acquire()],
        [two, () => two.set(at(world, 0))],
        [one, () => one.claim(leases, inFlight)],
      ])
    },
  },
  {
    name: 'heartbeat | notified set of another process, clock step, claim',
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, inFlight } = watch
      const claimThen = async () => {
        await one.claim(leases, inFlight)
        await clockMoves(world, one, RETRY_MS)
        await one.claim(leases, inFlight)
      }
      return sceneOf(world, watch, [
        [one, () => one.acquire()],
        [one, claimThen],
        [two, () => two.set(at(world, RETRY_MS))],
      ])
    },
  },
  {
    name: 'two notified sets | heartbeat and claim of an idle lease holder',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await resting(world)
      const { one, two, leases, inFlight } = watch
      const three = await world.process('three')
      const heartbeatThenClaim = async () => {
        await one.acquire()
        await one.claim(leases, inFlight)
      }
      return sceneOf(world, watch, [
        [one, heartbeatThenClaim],
        [two, () => two.set(at(world, RETRY_MS))],
        [three, () => three.set(at(world, 0))],
      ])
    },
  },
  {
    name: 'two sets of the same instant, committed in reverse order | two claims',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, inFlight } = watch
      const three = await world.process('three')
      const claimTwice = async () => {
        await one.claim(leases, inFlight)
        await one.claim(leases, inFlight)
      }
      // By key: without one, a set is a single statement, which is numbered and committed at once.
      return sceneOf(world, watch, [
        [one, claimTwice],
        [two, () => two.set(at(world, 0), { key: 'two' })],
        [three, () => three.set(at(world, 0), { key: 'three' })],
      ])
    },
  },
  {
    name: 'own set | claim | notified set of another process, the same instant',
    hasThreeActors: true,
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, inFlight } = watch
      return sceneOf(world, watch, [
        [one, () => one.set(at(world, 0))],
        [one, () => one.claim(leases, inFlight)],
        [two, () => two.set(at(world, 0))],
      ])
    },
  },
  {
    name: 'notified resume of another process | claim',
    async setUp(world) {
      const watch = await watching(world)
      const { one, two, leases, inFlight } = watch
      const id = await two.bench.alarm(at(world, 0))
      const { pause, resume } = world.subject.alarm
      await two.edit('pause', id, pause)
      await world.flushNotices()
      return sceneOf(world, watch, [
        [one, () => one.claim(leases, inFlight)],
        [two, () => two.edit('resume', id, resume)],
      ])
    },
  },
  ...(['failed', 'released'] as const).map(
    (outcome): Scenario => ({
      name: `settle (${outcome}) whose commit loses its answer | claim`,
      refusals: ['store_unavailable'],
      async setUp(world) {
        const watch = await watching(world, false)
        const { one, two, claimedTimers, inFlight } = watch
        one.interceptor.faults.push({ name: 'COMMIT', loses: 'answer' })
        return sceneOf(world, watch, [
          [one, () => one.settle(claimedTimers, outcome, inFlight)],
          [one, () => claimUntilAnswered(watch)],
          // When settled a second time, its retry would come later.
          [two, () => clockMoves(world, two, 300)],
        ])
      },
    }),
  ),
  {
    name: 'own set whose commit loses its answer | claim',
    refusals: ['store_unavailable'],
    async setUp(world) {
      const watch = await watching(world, false)
      const { one } = watch
      one.interceptor.faults.push({ name: 'COMMIT', loses: 'answer' })
      return sceneOf(world, watch, [
        [one, () => one.set(at(world, RETRY_MS), { key: 'one' })],
        [one, () => claimUntilAnswered(watch)],
      ])
    },
  },
  {
    name: 'target moved to another pool | claim by its lease holder',
    async setUp(world) {
      const [one, two] = [await world.process('one'), await world.process('two')]
      const id = await two.bench.alarm(at(world, RETRY_MS))
      for (const target of ['remind', ELSEWHERE]) await two.bench.alarm({ delay: '1h' }, { target })
      await world.watch(one, () => {})
      const inFlight = new world.subject.InFlightSet()
      const leases = await one.acquire('one', POOLS)
      await one.claim(leases, inFlight)
      // A timer to find, so that the claim of the schedule really scans.
      await two.bench.alarm(at(world, 0))
      await world.flushNotices()
      const target = two.bench.request({ delay: '1h' }, { target: ELSEWHERE }).alarm.target
      return sceneOf(world, { one, two, leases, claimedTimers: [], inFlight }, [
        [one, () => one.claim(leases, inFlight)],
        [
          two,
          () =>
            two.edit('amend', id, (found, context) => world.subject.alarm.amend(found, { target }, context)),
        ],
      ])
    },
  },
  {
    name: 'a shard is reacquired: set by the interim lease holder | claim by the former one',
    async setUp(world) {
      const { one, two, inFlight } = await resting(world)
      world.clock.step(LEASE_OVER_MS)
      const theirs = await two.acquire()
      const giveBack = async () => {
        await two.set(at(world, 0))
        await two.release(theirs)
      }
      const { claim, judge } = claiming(world, one, inFlight)
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
    name: 'set by a process whose lease has ended | takeover and claim',
    async setUp(world) {
      const { one, two, leases: before, inFlight } = await resting(world)
      await one.release(before)
      await two.acquire()
      world.clock.step(LEASE_OVER_MS)
      const { claim, judge } = claiming(world, one, inFlight)
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
