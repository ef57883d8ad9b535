import { pause, resume, skipNext } from '../../../src/alarm/index.ts'
import type { Fault } from '../interceptor.ts'
import type { Breach } from '../judge.ts'
import { readRows } from '../rows.ts'
import type { Scenario } from '../scenario.ts'
import type { World } from '../world.ts'
import { clockMoves, due, flying, LEASE_OVER_MS } from './setups.ts'

const HOURLY = { every: '1h' } as const
const ONCE = { delay: '1h' } as const
const KEYED = { key: 'k' } as const
const DONE = { ok: true, text: 'done' } as const

/** What races with a settle. */
export const settleScenarios: readonly Scenario[] = [
  ...(['delivered', 'failed'] as const).flatMap((came) =>
    [ONCE, HOURLY].flatMap((when): Scenario[] => {
      const what = `${'every' in when ? 'recurring' : 'once'}, ${came}`
      return [
        {
          name: `settle | cancel, ${what}`,
          async setUp(world) {
            const { one, two, takings, id } = await flying(world, when)
            return {
              actors: [
                { process: 'one', act: () => one.settle(takings, came) },
                { process: 'two', act: () => two.cancel(id) },
              ],
            }
          },
        },
        {
          name: `settle | upsert by key, ${what}`,
          async setUp(world) {
            const { one, two, takings } = await flying(world, when, KEYED)
            return {
              actors: [
                { process: 'one', act: () => one.settle(takings, came) },
                { process: 'two', act: () => two.set({ delay: '30m' }, KEYED) },
              ],
            }
          },
        },
      ]
    }),
  ),
  ...Object.entries({ skipNext, pause, resume }).map(
    ([name, decide]): Scenario => ({
      name: `settle | ${name}, recurring`,
      refusals: ['conflict'],
      async setUp(world) {
        const { one, two, takings, id } = await flying(world, HOURLY)
        if (name === 'resume') await one.edit('pause', id, pause)
        return {
          actors: [
            { process: 'one', act: () => one.settle(takings) },
            { process: 'two', act: () => two.edit(name, id, decide) },
          ],
        }
      },
    }),
  ),
  ...(
    [
      ['whose commit loses its answer', { name: 'COMMIT', loses: 'answer' }],
      ['whose commit loses its way', { name: 'COMMIT', loses: 'send' }],
      ['whose connection the server ends', { name: 'removeFlights', loses: 'connection' }],
    ] satisfies [string, Fault][]
  ).map(
    ([what, fault]): Scenario => ({
      name: `settle ${what} | cancel, recurring`,
      async setUp(world) {
        const { one, two, takings, id } = await flying(world, HOURLY)
        one.gate.faults.push(fault)
        return {
          actors: [
            { process: 'one', act: () => one.settle(takings) },
            { process: 'two', act: () => two.cancel(id) },
          ],
        }
      },
    }),
  ),
  {
    name: 'settle whose answer is lost | next take, recurring',
    async setUp(world) {
      const { one, two, takings, leases } = await flying(world, { every: '4s' })
      one.gate.faults.push({ name: 'COMMIT', loses: 'answer' })
      const held = new world.subject.InFlightSet()
      for (const { timer } of takings) held.add(timer.id, timer.version)
      const takeNext = async () => {
        await clockMoves(world, two, 4_000)
        const taken = await two.take(leases, held)
        await two.settle(taken.timers, 'delivered', held)
      }
      return {
        livesOn: false,
        actors: [
          { process: 'one', act: () => one.settle(takings, 'delivered', held) },
          { process: 'two', act: takeNext },
        ],
      }
    },
  },
  {
    name: 'settle that ends the open one | take that queues the next',
    async setUp(world) {
      const options = { ack: 'report', overlap: 'queue', backoff: { baseMs: 3_500_000 } } as const
      const { one, two, takings } = await flying(world, HOURLY, options)
      await one.settle(takings, 'failed')
      world.clock.step(3_599_000)
      const leases = await one.own()
      const retried = (await one.take(leases)).timers
      if (retried.length !== 1) throw new Error(`${retried.length} were tried again, not one`)
      world.clock.step(1_000)
      const { now } = one.bench
      const held = new world.subject.InFlightSet()
      for (const { timer } of retried) held.add(timer.id, timer.version)
      const reported = { kind: 'delivered', firedAt: now, endedAt: now, report: 'done' } as const
      return {
        actors: [
          { process: 'one', act: () => one.settle(retried, reported, held) },
          { process: 'two', act: () => two.take(leases, held) },
        ],
      }
    },
  },
  {
    name: 'settle | upsert by key to another pool',
    async setUp(world) {
      const { one, two, takings } = await flying(world, HOURLY, KEYED)
      const elsewhere = { ...KEYED, target: { handler: 'x', pool: 'other' } }
      await two.bench.alarm({ delay: '50m' }, { target: { handler: 'x', pool: 'other' } })
      return {
        actors: [
          { process: 'one', act: () => one.settle(takings) },
          { process: 'two', act: () => two.set({ every: '1h' }, elsewhere) },
        ],
      }
    },
  },
  {
    name: 'report | settle',
    refusals: ['conflict'],
    async setUp(world) {
      const { one, two, takings, id } = await flying(world, ONCE, { ack: 'report' })
      return {
        judgeEnd: () => judgeReport(world),
        actors: [
          { process: 'one', act: () => one.settle(takings) },
          {
            process: 'two',
            act: () =>
              two.edit('report', id, (found, context) => world.subject.alarm.report(found, DONE, context)),
          },
        ],
      }
    },
  },
  {
    name: 'report | its time-out',
    refusals: ['conflict', 'already_ended'],
    async setUp(world) {
      const { one, two, takings, leases, id } = await flying(world, ONCE, {
        ack: 'report',
        completionTimeout: '4s',
      })
      await one.settle(takings)
      world.clock.step(4_000)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          {
            process: 'two',
            act: () =>
              two.edit('report', id, (found, context) => world.subject.alarm.report(found, DONE, context)),
          },
        ],
      }
    },
  },
  {
    name: 'report | settle | time-out',
    isOfThree: true,
    refusals: ['conflict', 'already_ended'],
    async setUp(world) {
      const { one, two, takings, leases, id } = await flying(world, ONCE, {
        ack: 'report',
        completionTimeout: '2s',
      })
      const three = await world.process('three')
      const held = new world.subject.InFlightSet()
      for (const { timer } of takings) held.add(timer.id, timer.version)
      const takeLater = async () => {
        await clockMoves(world, three, 2_000)
        await three.take(leases, held)
      }
      return {
        actors: [
          { process: 'one', act: () => one.settle(takings, 'delivered', held) },
          {
            process: 'two',
            act: () =>
              two.edit('report', id, (found, context) => world.subject.alarm.report(found, DONE, context)),
          },
          { process: 'three', act: takeLater },
        ],
      }
    },
  },
  {
    name: 'time-out of the last report | cancel',
    async setUp(world) {
      const options = { ack: 'report', completionTimeout: '2s' } as const
      const { one, two, takings, leases, id } = await flying(world, { every: '1h', count: 1 }, options)
      await one.settle(takings)
      world.clock.step(2_000)
      return {
        actors: [
          { process: 'one', act: () => one.take(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'two settles of one alarm: the last open ones end it',
    async setUp(world) {
      const { one, two, leases, id } = await due(world, { every: '1h', count: 2 })
      await one.settle((await one.take(leases)).timers, 'failed')
      world.clock.step(3_600_000)
      const newLeases = await one.own()
      const { timers: takings } = await one.take(newLeases)
      if (takings.length !== 2) throw new Error(`${takings.length} of ${id} in flight, not two`)
      return {
        actors: [
          { process: 'one', act: () => one.settle([takings[0]!]) },
          { process: 'two', act: () => two.settle([takings[1]!]) },
        ],
      }
    },
  },
  {
    name: 'settle of two | cancel of one | cancel of the other',
    isOfThree: true,
    async setUp(world) {
      const { one, two, leases, id } = await due(world)
      const three = await world.process('three')
      const other = await one.bench.alarm({ at: new Date(world.clock.now()).toISOString() })
      const { timers: takings } = await one.take(leases)
      return {
        actors: [
          { process: 'one', act: () => one.settle([...takings].reverse()) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.cancel(other) },
        ],
      }
    },
  },
  {
    name: 'transact | cancel',
    async setUp(world) {
      const { one, two, takings, id } = await flying(world)
      return {
        actors: [
          { process: 'one', act: () => one.transact(takings[0]!) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'transact | takeover',
    async setUp(world) {
      const { one, two, takings } = await flying(world)
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.transact(takings[0]!) },
          { process: 'two', act: () => two.own() },
        ],
      }
    },
  },
]

/** What was answered to have been reported is what came of it. */
async function judgeReport(world: World): Promise<Breach[]> {
  const isTaken = world.notes.some((note) => note.kind === 'edit' && note.what === 'report')
  const [outcome] = (await readRows(world)).outcomes
  if (!isTaken || outcome?.status === 'completed') return []
  return [
    { promise: 'recorded-once', what: `its report was taken in, and it is ${outcome?.status ?? 'open'}` },
  ]
}
