import { review, type Serial } from '../../../src/alarm/index.ts'
import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { Breach } from '../judge.ts'
import type { Process } from '../process.ts'
import { readRows } from '../rows.ts'
import type { Scenario, Scene } from '../scenario.ts'
import type { World } from '../world.ts'
import { due, flying } from './setups.ts'

/** Follows the log page by page, as a feed does, and tells which places it has seen. */
class Reader {
  readonly seen: Serial[] = []
  readonly #process: Process
  readonly #alarm: { alarmId?: string }

  /** `alarmId` follows one alarm only. */
  constructor(process: Process, alarmId?: string) {
    this.#process = process
    this.#alarm = alarmId === undefined ? {} : { alarmId }
  }

  async read(): Promise<void> {
    const query = { after: this.seen.at(-1) ?? 0, limit: 100, ...this.#alarm }
    const events = await this.#process.store.events(ANN, query)
    for (const { seq } of events) this.seen.push(seq)
  }

  /** Nothing was passed over, once everything is committed. */
  async judge(world: World): Promise<Breach[]> {
    await this.read()
    const all = (await readRows(world)).events.map(({ seq }) => seq)
    const missed = all.filter((seq) => !this.seen.includes(seq))
    if (missed.length === 0) return []
    return [
      {
        promise: 'reader-misses-none',
        what: `events ${missed.join(', ')} were never read: the reader was past them (${this.seen.join(', ')})`,
      },
    ]
  }
}

/** What races with those who read, or who change what others decide by. */
export const logScenarios: readonly Scenario[] = [
  {
    name: 'reader of the log | two writers',
    isOfThree: true,
    async setUp(world): Promise<Scene> {
      const { one, two, id } = await due(world)
      const three = await world.process('three')
      const other = await one.bench.alarm({ delay: '30m' })
      const reader = new Reader(three)
      const readTwice = async () => {
        await reader.read()
        await reader.read()
      }
      return {
        judge: () => reader.judge(world),
        actors: [
          { process: 'one', act: () => one.cancel(id) },
          { process: 'two', act: () => two.cancel(other) },
          { process: 'three', act: readTwice },
        ],
      }
    },
  },
  {
    name: 'reader of one alarm | two settles of it',
    isOfThree: true,
    async setUp(world): Promise<Scene> {
      const { one, two, leases, id } = await due(world, { every: '1h' })
      const three = await world.process('three')
      await one.settle((await one.take(leases)).timers, 'failed')
      world.clock.step(3_600_000)
      const { timers: takings } = await one.take(await one.own())
      if (takings.length !== 2) throw new Error('the scenario begins with two in flight')
      const reader = new Reader(three, id)
      const readTwice = async () => {
        await reader.read()
        await reader.read()
      }
      return {
        livesOn: false,
        judge: () => reader.judge(world),
        actors: [
          { process: 'one', act: () => one.settle([takings[0]!]) },
          { process: 'two', act: () => two.settle([takings[1]!]) },
          { process: 'three', act: readTwice },
        ],
      }
    },
  },
  {
    name: 'calendar and review | settle',
    async setUp(world): Promise<Scene> {
      const [one, two] = [await world.process('one'), await world.process('two')]
      const calendar = { name: 'off', dates: {}, weekend: [] }
      await one.store.putCalendar(ANN.tenant, calendar, one.bench.context())
      await one.bench.alarm({ cron: '0 9 * * *', exclude: 'off' })
      world.clock.step(9 * 3_600_000)
      const { timers: takings } = await one.take(await one.own())
      if (takings.length !== 1) throw new Error('the scenario begins with something in flight')
      const edit = async () => {
        const context = two.bench.context()
        const dates = { '2030-01-02': 'off' }
        await two.does('put calendar', () =>
          two.store.putCalendar(ANN.tenant, { ...calendar, dates }, context),
        )
        await two.does('review', () =>
          two.store.review(
            { calendarsOf: ANN.tenant, after: 0, limit: 100 },
            (found) => review(found, context),
            context,
          ),
        )
      }
      return {
        livesOn: false,
        judge: () => judgeDayOff(world),
        actors: [
          { process: 'one', act: () => one.settle(takings) },
          { process: 'two', act: edit },
        ],
      }
    },
  },
  {
    name: 'set of another process | take of one that listens',
    async setUp(world): Promise<Scene> {
      const [one, two] = [await world.process('one'), await world.process('two')]
      const leases = await one.own()
      let rung = 0
      await world.watch(one, () => {
        rung += 1
      })
      let expected: number | null = null
      one.gate.lateAnswers = ['peekShards']
      const lookTwice = async () => {
        await one.take(leases)
        rung = 0
        expected = (await one.take(leases)).nextWakeAt
      }
      return {
        judge: async () => {
          const wakeAt = (await readRows(world)).timers[0]!.wake_at!
          if (rung > 0) expected = (await one.take(leases)).nextWakeAt
          if (expected !== null && expected <= wakeAt) return []
          const what = `the owner waits for ${expected ?? 'nothing'}, and something wakes at ${wakeAt}`
          return [{ promise: 'at-least-once', what }]
        },
        actors: [
          { process: 'one', act: lookTwice },
          { process: 'two', act: () => two.set({ delay: '2s' }) },
        ],
      }
    },
  },
  {
    name: 'settle that retries | take of the same process that listens',
    async setUp(world): Promise<Scene> {
      const { one, leases, takings } = await flying(
        world,
        { delay: '1h' },
        { backoff: { baseMs: 1_000, capMs: 1_000 } },
      )
      await world.watch(one, () => {})
      const held = new world.subject.InFlightSet()
      for (const { timer } of takings) held.add(timer.id, timer.version)
      let expected: number | null = null
      return {
        // The engine looks again after each settle.
        judge: async () => {
          expected = (await one.take(leases, held)).nextWakeAt
          const wakeAt = (await readRows(world)).timers[0]!.wake_at!
          if (expected !== null && expected <= wakeAt) return []
          const what = `the owner waits for ${expected ?? 'nothing'}, and its retry wakes at ${wakeAt}`
          return [{ promise: 'at-least-once', what }]
        },
        actors: [
          { process: 'one', act: () => one.settle(takings, 'failed', held) },
          { process: 'one', act: () => one.take(leases, held) },
        ],
      }
    },
  },
]

/** By the calendar of today, nothing is planned on the second of January. */
async function judgeDayOff(world: World): Promise<Breach[]> {
  const { timers } = await readRows(world)
  const at = timers.map(({ scheduled_for }) => new Date(scheduled_for).toISOString())
  if (at.length === 1 && at[0] === '2030-01-03T09:00:00.000Z') return []
  return [
    { promise: 'at-least-once', what: `its next occurrence is ${at.join(', ') || 'none'}, not 2030-01-03` },
  ]
}
