import { type Context, cancel, pause, resume, type Snapshot, skipNext } from '../../../src/alarm/index.ts'
import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { Process } from '../process.ts'
import type { Scenario } from '../scenario.ts'
import { due } from './setups.ts'

const KEYED = { key: 'k' } as const

/** Races between users. */
export const editScenarios: readonly Scenario[] = [
  {
    name: 'cancel | cancel',
    async setUp(world) {
      const { one, two, id } = await due(world)
      return {
        actors: [
          { process: 'one', act: () => one.cancel(id) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'cancel | upsert by key',
    async setUp(world) {
      const { one, two, id } = await due(world, { delay: '1h' }, KEYED)
      return {
        actors: [
          { process: 'one', act: () => one.cancel(id) },
          { process: 'two', act: () => two.set({ delay: '30m' }, KEYED) },
        ],
      }
    },
  },
  {
    name: 'pause | resume',
    async setUp(world) {
      const { one, two, id } = await due(world, { every: '1h' })
      await one.edit('pause', id, pause)
      return {
        actors: [
          { process: 'one', act: () => one.edit('resume', id, resume) },
          { process: 'two', act: () => two.edit('pause', id, pause) },
        ],
      }
    },
  },
  ...Object.entries({
    'the same key': KEYED,
    'the same idempotency key': { idempotencyKey: 'i' },
    'the same key and idempotency key': { key: 'k', idempotencyKey: 'i' },
  }).map(
    ([name, options]): Scenario => ({
      name: `set | set, ${name}`,
      async setUp(world) {
        const { one, two } = await due(world)
        return {
          actors: [
            { process: 'one', act: () => one.set({ delay: '30m' }, options) },
            { process: 'two', act: () => two.set({ delay: '40m' }, options) },
          ],
        }
      },
    }),
  ),
  {
    name: 'upsert | upsert | upsert, the same key',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two } = await due(world, { delay: '1h' }, KEYED)
      const three = await world.process('three')
      return {
        actors: [one, two, three].map((each, place) => ({
          process: each.name,
          act: () => each.set({ delay: `${30 + place}m` }, KEYED),
        })),
      }
    },
  },
  {
    name: 'upsert that brings it near | cancel | pause',
    hasThreeActors: true,
    refusals: ['conflict', 'already_ended'],
    async setUp(world) {
      const { one, two, id } = await due(world, { delay: '3h' }, KEYED)
      const three = await world.process('three')
      const now = new Date(world.clock.now()).toISOString()
      return {
        actors: [
          { process: 'one', act: () => one.set({ at: now }, KEYED) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.edit('pause', id, pause) },
        ],
      }
    },
  },
  {
    name: 'set in a user’s transaction | set, the same new key',
    async setUp(world) {
      const { one, two } = await due(world)
      const tx = await world.userConnection('one')
      return {
        actors: [
          { process: 'one', act: () => one.setInTransaction(tx, { delay: '30m' }, KEYED) },
          { process: 'two', act: () => two.set({ delay: '40m' }, KEYED) },
        ],
      }
    },
  },
  ...Object.entries({ key: KEYED, 'idempotency key': { idempotencyKey: 'i' } }).map(
    ([name, options]): Scenario => ({
      name: `prune | set, the same ${name}`,
      async setUp(world) {
        const { one, two, id } = await due(world, { delay: '2h' }, options)
        await one.bench.cancel(id)
        world.clock.step(1)
        const prune = () => one.does('prune', () => one.store.prune(world.clock.now(), 10))
        return {
          hasPruned: true,
          actors: [
            { process: 'one', act: prune },
            { process: 'two', act: () => two.set({ delay: '30m' }, options) },
          ],
        }
      },
    }),
  ),
  ...Object.entries({
    pause,
    skipNext,
    cancel: (found: Snapshot, context: Context) => cancel(found, context).change,
  }).map(
    ([name, decide]): Scenario => ({
      name: `${name} | release of what waits for its handler`,
      async setUp(world) {
        const { one, two, leases, id } = await due(world, { every: '1h' })
        one.bench.canRun = () => false
        await one.claim(leases)
        const release = () =>
          one.does('release', () =>
            one.store.requeueWaiting(leases, { handler: 'remind' }, world.clock.now(), 10),
          )
        return {
          actors: [
            { process: 'one', act: release },
            { process: 'two', act: () => two.edit(name, id, decide) },
          ],
        }
      },
    }),
  ),
  ...Object.entries({
    pause,
    cancel: (found: Snapshot, context: Context) => cancel(found, context).change,
  }).map(
    ([name, decide]): Scenario => ({
      name: `${name} | release of what an operator paused`,
      async setUp(world) {
        const { one, two, leases, id } = await due(world, { every: '1h' })
        one.bench.isPaused = () => true
        await one.claim(leases)
        one.bench.isPaused = () => false
        const which = { pausedTarget: 'remind' }
        const release = () =>
          one.does('release', () => one.store.requeueWaiting(leases, which, world.clock.now(), 10))
        return {
          actors: [
            { process: 'one', act: release },
            { process: 'two', act: () => two.edit(name, id, decide) },
          ],
        }
      },
    }),
  ),
  {
    name: 'two sets of two keys in opposite order | cancel of both',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two } = await due(world)
      const three = await world.process('three')
      // Far from their instants, so that no shard lock serializes them.
      const ids = [
        await one.bench.alarm({ delay: '10m' }, { key: 'a' }),
        await one.bench.alarm({ delay: '10m' }, { key: 'b' }),
      ]
      const setBoth = (each: Process, keys: readonly string[]) => () =>
        each.does('set two', () =>
          each.store.set(
            keys.map((key) => each.bench.request({ delay: '30m' }, { key })),
            each.bench.context(),
          ),
        )
      return {
        actors: [
          { process: 'one', act: setBoth(one, ['a', 'b']) },
          { process: 'two', act: setBoth(two, ['b', 'a']) },
          { process: 'three', act: () => three.does('cancel both', () => cancelAll(three, ids)) },
        ],
      }
    },
  },
]

function cancelAll({ store, bench }: Process, ids: readonly string[]): Promise<unknown> {
  const context = bench.context()
  const decide = (found: Snapshot) => ({ change: cancel(found, context).change, answer: null })
  return store.edit(ANN, { ids }, decide, context)
}
