import type { Scenario } from '../scenario.ts'
import { due, flying, LEASE_OVER_MS } from './setups.ts'

const HOURLY = { every: '1h' } as const

/** What races with a change of owners. */
export const ownerScenarios: readonly Scenario[] = [
  ...(['delivered', 'failed', 'released'] as const).map(
    (came): Scenario => ({
      name: `settle | takeover, ${came}`,
      async setUp(world) {
        const { one, two, takings } = await flying(world)
        world.clock.step(LEASE_OVER_MS)
        return {
          actors: [
            { process: 'one', act: () => one.settle(takings, came) },
            { process: 'two', act: () => two.own() },
          ],
        }
      },
    }),
  ),
  {
    name: 'settle | takeover and take, recurring',
    async setUp(world) {
      const { one, two, takings } = await flying(world, HOURLY)
      world.clock.step(LEASE_OVER_MS)
      const takeOver = async () => {
        const leases = await two.own()
        if (leases.length > 0) await two.take(leases)
      }
      return {
        actors: [
          { process: 'one', act: () => one.settle(takings) },
          { process: 'two', act: takeOver },
        ],
      }
    },
  },
  {
    name: 'take | takeover and take',
    async setUp(world) {
      const { one, two, leases } = await due(world)
      world.clock.step(LEASE_OVER_MS)
      const takeOver = async () => {
        const own = await two.own()
        if (own.length > 0) await two.take(own)
      }
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: takeOver },
        ],
      }
    },
  },
  {
    name: 'late heartbeat | takeover',
    async setUp(world) {
      const { one, two } = await flying(world)
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.own() },
          { process: 'two', act: () => two.own() },
        ],
      }
    },
  },
  {
    name: 'two claims of what is free',
    async setUp(world) {
      const { one, two, leases } = await due(world)
      await one.disown(leases)
      return {
        actors: [
          { process: 'one', act: () => one.own() },
          { process: 'two', act: () => two.own() },
        ],
      }
    },
  },
  {
    name: 'disown | claim',
    async setUp(world) {
      const { one, two, leases } = await flying(world)
      return {
        actors: [
          { process: 'one', act: () => one.disown(leases) },
          { process: 'two', act: () => two.own() },
        ],
      }
    },
  },
  {
    name: 'heartbeat | settle | takeover',
    isOfThree: true,
    async setUp(world) {
      const { one, two, takings } = await flying(world)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.own('one') },
          { process: 'two', act: () => two.settle(takings) },
          { process: 'three', act: () => three.own('three') },
        ],
      }
    },
  },
  {
    name: 'cancel | takeover',
    async setUp(world) {
      const { two, id } = await flying(world)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.own('three') },
        ],
      }
    },
  },
  {
    name: 'cancel | takeover and take',
    async setUp(world) {
      const { two, id } = await flying(world, HOURLY)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      const takeOver = async () => {
        const own = await three.own('three')
        if (own.length > 0) await three.take(own)
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
    isOfThree: true,
    async setUp(world) {
      const { one, two, takings, id } = await flying(world)
      const three = await world.process('three')
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.settle(takings) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.own('three') },
        ],
      }
    },
  },
  {
    name: 'a shard is given up | take',
    async setUp(world) {
      const pools = ['app', 'wakeful']
      const one = await world.process('one')
      const two = await world.process('two')
      await one.bench.alarm({ delay: '1h' })
      await one.bench.alarm({ delay: '1h' }, { target: { handler: 'x', pool: 'wakeful' } })
      world.clock.step(3_600_000)
      const leases = await one.own('one', pools)
      await two.own('two', pools)
      return {
        livesOn: false,
        actors: [
          { process: 'one', act: () => one.own('one', pools) },
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.own('two', pools) },
        ],
      }
    },
  },
]
