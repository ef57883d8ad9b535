import type { Scenario } from '../scenario.ts'
import { due, inFlightAlarm, LEASE_OVER_MS } from './setups.ts'

const HOURLY = { every: '1h' } as const

/** Races with a change of the lease holder. */
export const leaseScenarios: readonly Scenario[] = [
  ...(['delivered', 'failed', 'released'] as const).map(
    (outcome): Scenario => ({
      name: `settle | takeover, ${outcome}`,
      async setUp(world) {
        const { one, two, claimedTimers } = await inFlightAlarm(world)
        world.clock.step(LEASE_OVER_MS)
        return {
          actors: [
            { process: 'one', act: () => one.settle(claimedTimers, outcome) },
            { process: 'two', act: () => two.acquire() },
          ],
        }
      },
    }),
  ),
  {
    name: 'settle | takeover and claim, recurring',
    async setUp(world) {
      const { one, two, claimedTimers } = await inFlightAlarm(world, HOURLY)
      world.clock.step(LEASE_OVER_MS)
      const takeOver = async () => {
        const leases = await two.acquire()
        if (leases.length > 0) await two.claim(leases)
      }
      return {
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers) },
          { process: 'two', act: takeOver },
        ],
      }
    },
  },
  {
    name: 'claim | takeover and claim',
    async setUp(world) {
      const { one, two, leases } = await due(world)
      world.clock.step(LEASE_OVER_MS)
      const takeOver = async () => {
        const own = await two.acquire()
        if (own.length > 0) await two.claim(own)
      }
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: takeOver },
        ],
      }
    },
  },
  {
    name: 'late heartbeat | takeover',
    async setUp(world) {
      const { one, two } = await inFlightAlarm(world)
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.acquire() },
          { process: 'two', act: () => two.acquire() },
        ],
      }
    },
  },
  {
    name: 'two acquisitions of a free shard',
    async setUp(world) {
      const { one, two, leases } = await due(world)
      await one.release(leases)
      return {
        actors: [
          { process: 'one', act: () => one.acquire() },
          { process: 'two', act: () => two.acquire() },
        ],
      }
    },
  },
  {
    name: 'release of leases | acquisition',
    async setUp(world) {
      const { one, two, leases } = await inFlightAlarm(world)
      return {
        actors: [
          { process: 'one', act: () => one.release(leases) },
          { process: 'two', act: () => two.acquire() },
        ],
      }
    },
  },
  {
    name: 'heartbeat | settle | takeover',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two, claimedTimers } = await inFlightAlarm(world)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.acquire('one') },
          { process: 'two', act: () => two.settle(claimedTimers) },
          { process: 'three', act: () => three.acquire('three') },
        ],
      }
    },
  },
  {
    name: 'cancel | takeover',
    async setUp(world) {
      const { two, id } = await inFlightAlarm(world)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.acquire('three') },
        ],
      }
    },
  },
  {
    name: 'cancel | takeover and claim',
    async setUp(world) {
      const { two, id } = await inFlightAlarm(world, HOURLY)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      const takeOver = async () => {
        const own = await three.acquire('three')
        if (own.length > 0) await three.claim(own)
      }
      return {
        actors: [
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: takeOver },
        ],
      }
    },
  },
  {
    name: 'settle | cancel | takeover',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two, claimedTimers, id } = await inFlightAlarm(world)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.acquire('three') },
        ],
      }
    },
  },
  {
    name: 'a shard is given up | claim',
    async setUp(world) {
      const pools = ['app', 'wakeful']
      const one = await world.process('one')
      const two = await world.process('two')
      await one.bench.alarm({ delay: '1h' })
      await one.bench.alarm({ delay: '1h' }, { target: { handler: 'x', pool: 'wakeful' } })
      world.clock.step(3_600_000)
      const leases = await one.acquire('one', pools)
      await two.acquire('two', pools)
      return {
        playsFuture: false,
        actors: [
          { process: 'one', act: () => one.acquire('one', pools) },
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.acquire('two', pools) },
        ],
      }
    },
  },
]
