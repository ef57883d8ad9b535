import { pause, resume, skipNext } from '../../../src/alarm/index.ts'
import type { Fault } from '../interceptor.ts'
import type { Breach } from '../judge.ts'
import { readRows } from '../rows.ts'
import type { Scenario } from '../scenario.ts'
import type { World } from '../world.ts'
import { clockMoves, due, inFlightAlarm, LEASE_OVER_MS } from './setups.ts'

const HOURLY = { every: '1h' } as const
const ONCE = { delay: '1h' } as const
const KEYED = { key: 'k' } as const
const DONE = { ok: true, text: 'done' } as const

/** Races with a settle. */
export const settleScenarios: readonly Scenario[] = [
  ...(['delivered', 'failed'] as const).flatMap((outcome) =>
    [ONCE, HOURLY].flatMap((when): Scenario[] => {
      const what = `${'every' in when ? 'recurring' : 'once'}, ${outcome}`
      return [
        {
          name: `settle | cancel, ${what}`,
          async setUp(world) {
            const { one, two, claimedTimers, id } = await inFlightAlarm(world, when)
            return {
              actors: [
                { process: 'one', act: () => one.settle(claimedTimers, outcome) },
                { process: 'two', act: () => two.cancel(id) },
              ],
            }
          },
        },
        {
          name: `settle | upsert by key, ${what}`,
          async setUp(world) {
            const { one, two, claimedTimers } = await inFlightAlarm(world, when, KEYED)
            return {
              actors: [
                { process: 'one', act: () => one.settle(claimedTimers, outcome) },
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
        const { one, two, claimedTimers, id } = await inFlightAlarm(world, HOURLY)
        if (name === 'resume') await one.edit('pause', id, pause)
        return {
          actors: [
            { process: 'one', act: () => one.settle(claimedTimers) },
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
      ['whose connection the server ends', { name: 'removeInFlightBatches', loses: 'connection' }],
    ] satisfies [string, Fault][]
  ).map(
    ([what, fault]): Scenario => ({
      name: `settle ${what} | cancel, recurring`,
      async setUp(world) {
        const { one, two, claimedTimers, id } = await inFlightAlarm(world, HOURLY)
        one.interceptor.faults.push(fault)
        return {
          actors: [
            { process: 'one', act: () => one.settle(claimedTimers) },
            { process: 'two', act: () => two.cancel(id) },
          ],
        }
      },
    }),
  ),
  {
    name: 'settle whose answer is lost | next claim, recurring',
    async setUp(world) {
      const { one, two, claimedTimers, leases } = await inFlightAlarm(world, { every: '4s' })
      one.interceptor.faults.push({ name: 'COMMIT', loses: 'answer' })
      const inFlight = new world.subject.InFlightSet()
      for (const { timer } of claimedTimers) inFlight.add(timer.id, timer.version)
      const claimNext = async () => {
        await clockMoves(world, two, 4_000)
        const claimed = await two.claim(leases, inFlight)
        await two.settle(claimed.timers, 'delivered', inFlight)
      }
      return {
        playsFuture: false,
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers, 'delivered', inFlight) },
          { process: 'two', act: claimNext },
        ],
      }
    },
  },
  {
    name: 'settle that ends the open occurrence | claim that queues the next',
    async setUp(world) {
      const options = { ack: 'report', overlap: 'queue', backoff: { baseMs: 3_500_000 } } as const
      const { one, two, claimedTimers } = await inFlightAlarm(world, HOURLY, options)
      await one.settle(claimedTimers, 'failed')
      world.clock.step(3_599_000)
      const leases = await one.acquire()
      const retried = (await one.claim(leases)).timers
      if (retried.length !== 1) throw new Error(`${retried.length} were tried again, not one`)
      world.clock.step(1_000)
      const { now } = one.bench
      const inFlight = new world.subject.InFlightSet()
      for (const { timer } of retried) inFlight.add(timer.id, timer.version)
      const reported = { kind: 'delivered', firedAt: now, endedAt: now, report: 'done' } as const
      return {
        actors: [
          { process: 'one', act: () => one.settle(retried, reported, inFlight) },
          { process: 'two', act: () => two.claim(leases, inFlight) },
        ],
      }
    },
  },
  {
    name: 'settle | upsert by key to another pool',
    async setUp(world) {
      const { one, two, claimedTimers } = await inFlightAlarm(world, HOURLY, KEYED)
      const elsewhere = { ...KEYED, target: { handler: 'x', pool: 'other' } }
      await two.bench.alarm({ delay: '50m' }, { target: { handler: 'x', pool: 'other' } })
      return {
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers) },
          { process: 'two', act: () => two.set({ every: '1h' }, elsewhere) },
        ],
      }
    },
  },
  {
    name: 'report | settle',
    refusals: ['conflict'],
    async setUp(world) {
      const { one, two, claimedTimers, id } = await inFlightAlarm(world, ONCE, { ack: 'report' })
      return {
        judgeEnd: () => judgeReport(world),
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers) },
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
    name: 'report | its timeout',
    refusals: ['conflict', 'already_ended'],
    async setUp(world) {
      const { one, two, claimedTimers, leases, id } = await inFlightAlarm(world, ONCE, {
        ack: 'report',
        completionTimeout: '4s',
      })
      await one.settle(claimedTimers)
      world.clock.step(4_000)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
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
    name: 'report | settle | timeout',
    hasThreeActors: true,
    refusals: ['conflict', 'already_ended'],
    async setUp(world) {
      const { one, two, claimedTimers, leases, id } = await inFlightAlarm(world, ONCE, {
        ack: 'report',
        completionTimeout: '2s',
      })
      const three = await world.process('three')
      const inFlight = new world.subject.InFlightSet()
      for (const { timer } of claimedTimers) inFlight.add(timer.id, timer.version)
      const claimLater = async () => {
        await clockMoves(world, three, 2_000)
        await three.claim(leases, inFlight)
      }
      return {
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers, 'delivered', inFlight) },
          {
            process: 'two',
            act: () =>
              two.edit('report', id, (found, context) => world.subject.alarm.report(found, DONE, context)),
          },
          { process: 'three', act: claimLater },
        ],
      }
    },
  },
  {
    name: 'timeout of the last report | cancel',
    async setUp(world) {
      const options = { ack: 'report', completionTimeout: '2s' } as const
      const { one, two, claimedTimers, leases, id } = await inFlightAlarm(
        world,
        { every: '1h', count: 1 },
        options,
      )
      await one.settle(claimedTimers)
      world.clock.step(2_000)
      return {
        actors: [
          { process: 'one', act: () => one.claim(leases) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'two settles that end the last open occurrences of one alarm',
    async setUp(world) {
      const { one, two, leases, id } = await due(world, { every: '1h', count: 2 })
      await one.settle((await one.claim(leases)).timers, 'failed')
      world.clock.step(3_600_000)
      const newLeases = await one.acquire()
      const { timers: claimedTimers } = await one.claim(newLeases)
      if (claimedTimers.length !== 2) throw new Error(`${claimedTimers.length} of ${id} in flight, not two`)
      return {
        actors: [
          { process: 'one', act: () => one.settle([claimedTimers[0]!]) },
          { process: 'two', act: () => two.settle([claimedTimers[1]!]) },
        ],
      }
    },
  },
  {
    name: 'settle of two | cancel of one | cancel of the other',
    hasThreeActors: true,
    async setUp(world) {
      const { one, two, leases, id } = await due(world)
      const three = await world.process('three')
      const other = await one.bench.alarm({ at: new Date(world.clock.now()).toISOString() })
      const { timers: claimedTimers } = await one.claim(leases)
      return {
        actors: [
          { process: 'one', act: () => one.settle([...claimedTimers].reverse()) },
          { process: 'two', act: () => two.cancel(id) },
          { process: 'three', act: () => three.cancel(other) },
        ],
      }
    },
  },
  {
    name: 'transact | cancel',
    async setUp(world) {
      const { one, two, claimedTimers, id } = await inFlightAlarm(world)
      return {
        actors: [
          { process: 'one', act: () => one.transact(claimedTimers[0]!) },
          { process: 'two', act: () => two.cancel(id) },
        ],
      }
    },
  },
  {
    name: 'transact | takeover',
    async setUp(world) {
      const { one, two, claimedTimers } = await inFlightAlarm(world)
      world.clock.step(LEASE_OVER_MS)
      return {
        actors: [
          { process: 'one', act: () => one.transact(claimedTimers[0]!) },
          { process: 'two', act: () => two.acquire() },
        ],
      }
    },
  },
]

/** An accepted report is the outcome. */
async function judgeReport(world: World): Promise<Breach[]> {
  const isAccepted = world.notes.some((note) => note.kind === 'edit' && note.what === 'report')
  const [outcome] = (await readRows(world)).outcomes
  if (!isAccepted || outcome?.status === 'completed') return []
  return [
    { promise: 'recorded-once', what: `its report was claimed in, and it is ${outcome?.status ?? 'open'}` },
  ]
}
