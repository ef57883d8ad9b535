import { cancel, pause } from '../../../src/alarm/index.ts'
import type { Scenario } from '../scenario.ts'
import { clockMoves, due, far, flying } from './setups.ts'

const HOURLY = { every: '1h' } as const
const KEYED = { key: 'k' } as const

/** What races with a take. */
export const takeScenarios: readonly Scenario[] = [
  {
    name: 'take | cancel, near',
    async setUp(world) {
      const { one, two, leases, id } = await due(world)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'take | cancel, near, hasty',
    isHasty: true,
    refusals: ['store_unavailable'],
    async setUp(world) {
      const { one, two, leases, id } = await due(world)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'take | cancel, recurring',
    async setUp(world) {
      const { one, two, leases, id } = await due(world, HOURLY)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'take | cancel, far',
    async setUp(world) {
      const { one, two, leases, id } = await far(world)
      const takeThen = async () => {
        await clockMoves(world, one, 8_000)
        await one.take(leases)
      }
      return {
        actors: [
          { process: 'one', act: takeThen },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'take | upsert by key, near',
    async setUp(world) {
      const { one, two, leases } = await due(world, { delay: '1h' }, KEYED)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'take | upsert by key to the same instant',
    async setUp(world) {
      const { one, two, leases } = await due(world, { delay: '1h' }, KEYED)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.set({ at: new Date(world.clock.now()).toISOString() }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'take | upsert by key, far',
    async setUp(world) {
      const { one, two, leases } = await far(world, { delay: '8s' }, KEYED)
      const takeThen = async () => {
        await clockMoves(world, one, 8_000)
        await one.take(leases)
      }
      return {
        actors: [
          { process: 'one', act: takeThen },
          { process: 'two', act: () => two.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'take | pause',
    refusals: ['conflict'],
    async setUp(world) {
      const { one, two, leases, id } = await due(world, HOURLY)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.edit('pause', id, pause) },
        ],
      }
    },
  },
  {
    name: 'take | cancel of a subject in pieces',
    async setUp(world) {
      const { one, two, leases } = await due(world, { delay: '1h' }, { subject: 's' })
      await one.bench.alarm({ at: new Date(world.clock.now()).toISOString() }, { subject: 's' })
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.cancelSubject('s', 1, cancel) },
        ],
      }
    },
  },
  {
    name: 'two takes and a settle of one owner',
    async setUp(world) {
      const { one, two, leases } = await due(world)
      await one.bench.alarm({ at: new Date(world.clock.now() + 1).toISOString() })
      const held = new world.subject.InFlightSet()
      const { timers: takings } = await one.take(leases, held)
      world.clock.step(1)
      // The rows of a look may be on their way while the settle beside it is answered.
      for (const { gate } of [one, two]) gate.lateAnswers = ['dueTimers', 'peekShards']
      const takeTwice = async () => {
        await one.take(leases, held)
        await one.take(leases, held)
      }
      return {
        actors: [
          { process: 'one', act: takeTwice },
          { process: 'two', act: () => two.settle(takings, 'delivered', held) },
        ],
      }
    },
  },
  {
    name: 'take | cancel | upsert',
    isOfThree: true,
    async setUp(world) {
      const { one, two, leases, id } = await due(world, { delay: '1h' }, KEYED)
      const three = await world.process('three')
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'take | settle | cancel, recurring, another due',
    isOfThree: true,
    async setUp(world) {
      const { one, two, leases, takings, id } = await flying(world, HOURLY)
      const three = await world.process('three')
      await one.bench.alarm({ at: new Date(world.clock.now()).toISOString() })
      const held = new world.subject.InFlightSet()
      for (const { timer } of takings) held.add(timer.id, timer.version)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases, held) },
          { process: 'two', act: () => two.settle(takings, 'delivered', held) },
          { process: 'three', act: () => three.cancel(id) },
        ],
      }
    },
  },
]
