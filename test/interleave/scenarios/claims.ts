import { cancel, pause } from '../../../src/alarm/index.ts'
import type { Scenario } from '../scenario.ts'
import { clockMoves, due, far, inFlightAlarm } from './setups.ts'

const HOURLY = { every: '1h' } as const
const KEYED = { key: 'k' } as const

/** Races with a claim. */
export const claimScenarios: readonly Scenario[] = [
  {
    name: 'claim | cancel, near',
    async setUp(world) {
      const { one, two, leases, id } = await due(world)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'claim | cancel, near, short lock timeout',
    hasShortLockTimeout: true,
    refusals: ['store_unavailable'],
    async setUp(world) {
      const { one, two, leases, id } = await due(world)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'claim | cancel, recurring',
    async setUp(world) {
      const { one, two, leases, id } = await due(world, HOURLY)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'claim | cancel, far',
    async setUp(world) {
      const { one, two, leases, id } = await far(world)
      const claimThen = async () => {
        await clockMoves(world, one, 8_000)
        await one.claim(leases)
      }
      return {
        actors: [
          { process: 'one', act: claimThen },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'claim | upsert by key, near',
    async setUp(world) {
      const { one, two, leases } = await due(world, { delay: '1h' }, KEYED)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'claim | upsert by key to the same instant',
    async setUp(world) {
      const { one, two, leases } = await due(world, { delay: '1h' }, KEYED)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.set({ at: new Date(world.clock.now()).toISOString() }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'claim | upsert by key, far',
    async setUp(world) {
      const { one, two, leases } = await far(world, { delay: '8s' }, KEYED)
      const claimThen = async () => {
        await clockMoves(world, one, 8_000)
        await one.claim(leases)
      }
      return {
        actors: [
          { process: 'one', act: claimThen },
          { process: 'two', act: () => two.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'claim | pause',
    refusals: ['conflict'],
    async setUp(world) {
      const { one, two, leases, id } = await due(world, HOURLY)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.edit('pause', id, pause) },
        ],
      }
    },
  },
  {
    name: 'claim | cancel of a subject in batches',
    async setUp(world) {
      const { one, two, leases } = await due(world, { delay: '1h' }, { subject: 's' })
      await one.bench.alarm({ at: new Date(world.clock.now()).toISOString() }, { subject: 's' })
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.cancelSubject('s', 1, cancel) },
        ],
      }
    },
  },
  {
    name: 'two claims and a settle of one lease holder',
    async setUp(world) {
      const { one, two, leases } = await due(world)
      await one.bench.alarm({ at: new Date(world.clock.now() + 1).toISOString() })
      const inFlight = new world.subject.InFlightSet()
      const { timers: claimedTimers } = await one.claim(leases, inFlight)
      world.clock.step(1)
      // The rows of a scan may be in transit while the concurrent settle is answered.
      for (const { interceptor } of [one, two]) interceptor.lateAnswers = ['dueTimers', 'peekShards']
      const claimTwice = async () => {
        await one.claim(leases, inFlight)
        await one.claim(leases, inFlight)
      }
      return {
        actors: [
          { process: 'one', act: claimTwice },
          { process: 'two', act: () => two.settle(claimedTimers, 'delivered', inFlight) },
        ],
      }
    },
  },
  {
    name: 'claim | cancel | upsert',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two, leases, id } = await due(world, { delay: '1h' }, KEYED)
      const three = await world.process('three')
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'claim | settle | cancel, recurring, another due',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two, leases, claimedTimers, id } = await inFlightAlarm(world, HOURLY)
      const three = await world.process('three')
      await one.bench.alarm({ at: new Date(world.clock.now()).toISOString() })
      const inFlight = new world.subject.InFlightSet()
      for (const { timer } of claimedTimers) inFlight.add(timer.id, timer.version)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases, inFlight) },
          { process: 'two', act: () => two.settle(claimedTimers, 'delivered', inFlight) },
          { process: 'three', act: () => three.cancel(id) },
        ],
      }
    },
  },
]
