import { recomputeInstants, type Serial } from '../../../src/alarm/index.ts'
import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { Breach } from '../judge.ts'
import type { Process } from '../process.ts'
import { readRows } from '../rows.ts'
import type { Scenario, Scene } from '../scenario.ts'
import type { World } from '../world.ts'
import { due, inFlightAlarm } from './setups.ts'

/** Follows the log page by page, as a feed does, and records the positions it has seen. */
class Reader {
  readonly seen: Serial[] = []
  readonly #process: Process
  readonly #alarm: { alarmId?: string }

  /** `alarmId`: follow only this alarm. */
  constructor(process: Process, alarmId?: string) {
    this.#process = process
    this.#alarm = alarmId === undefined ? {} : { alarmId }
  }

  async read(): Promise<void> {
    const query = { after: this.seen.at(-1) ?? 0, limit: 100, ...this.#alarm }
    const { events } = await this.#process.store.events(ANN, query)
    for (const { seq } of events) this.seen.push(seq)
  }

  /** Nothing was missed, once everything is committed. */
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

/** Races with readers of the log, and with changes of calendars. */
export const logScenarios: readonly Scenario[] = [
  {
    name: 'reader of the log | two writers',
    hasThreeActors: true,
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
    hasThreeActors: true,
    async setUp(world): Promise<Scene> {
      const { one, two, leases, id } = await due(world, { every: '1h' })
      const three = await world.process('three')
      await one.settle((await one.claim(leases)).timers, 'failed')
      world.clock.step(3_600_000)
      const { timers: claimedTimers } = await one.claim(await one.acquire())
      if (claimedTimers.length !== 2) throw new Error('the scenario begins with two in flight')
      const reader = new Reader(three, id)
      const readTwice = async () => {
        await reader.read()
        await reader.read()
      }
      return {
        playsFuture: false,
        judge: () => reader.judge(world),
        actors: [
          { process: 'one', act: () => one.settle([claimedTimers[0]!]) },
          { process: 'two', act: () => two.settle([claimedTimers[1]!]) },
          { process: 'three', act: readTwice },
        ],
      }
    },
  },
  {
    name: 'calendar and recompute | settle',
    async setUp(world): Promise<Scene> {
      const [one, two] = [await world.process('one'), await world.process('two')]
      const calendar = { name: 'off', dates: {}, weekend: [] }
      await one.store.putCalendar(ANN.tenant, calendar, one.bench.context())
      await one.bench.alarm({ cron: '0 9 * * *', exclude: 'off' })
      world.clock.step(9 * 3_600_000)
      const { timers: claimedTimers } = await one.claim(await one.acquire())
      if (claimedTimers.length !== 1) throw new Error('the scenario begins with something in flight')
      const edit = async () => {
        const context = two.bench.context()
        const dates = { '2030-01-02': 'off' }
        await two.does('put calendar', () =>
          two.store.putCalendar(ANN.tenant, { ...calendar, dates }, context),
        )
        await two.does('recompute', () =>
          two.store.recomputeInstants(
            { calendarsOf: ANN.tenant, after: 0, limit: 100 },
            (found) => recomputeInstants(found, context),
            context,
          ),
        )
      }
      return {
        playsFuture: false,
        judge: () => judgeDayOff(world),
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers) },
          { process: 'two', act: edit },
        ],
      }
    },
  },
  {
    name: 'set of another process | claim by a listening process',
    async setUp(world): Promise<Scene> {
      const [one, two] = [await world.process('one'), await world.process('two')]
      const leases = await one.acquire()
      let rung = 0
      await world.watch(one, () => {
        rung += 1
      })
      let expected: number | null = null
      one.interceptor.lateAnswers = ['peekShards']
      const lookTwice = async () => {
        await one.claim(leases)
        rung = 0
        expected = (await one.claim(leases)).nextWakeAt
      }
      return {
        judge: async () => {
          const wakeAt = (await readRows(world)).timers[0]!.wake_at!
          if (rung > 0) expected = (await one.claim(leases)).nextWakeAt
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
    name: 'settle that retries | claim by the same, listening process',
    async setUp(world): Promise<Scene> {
      const { one, leases, claimedTimers } = await inFlightAlarm(
        world,
        { delay: '1h' },
        { backoff: { baseMs: 1_000, capMs: 1_000 } },
      )
      await world.watch(one, () => {})
      const inFlight = new world.subject.InFlightSet()
      for (const { timer } of claimedTimers) inFlight.add(timer.id, timer.version)
      let expected: number | null = null
      return {
        // The engine scans again after each settle.
        judge: async () => {
          expected = (await one.claim(leases, inFlight)).nextWakeAt
          const wakeAt = (await readRows(world)).timers[0]!.wake_at!
          if (expected !== null && expected <= wakeAt) return []
          const what = `the owner waits for ${expected ?? 'nothing'}, and its retry wakes at ${wakeAt}`
          return [{ promise: 'at-least-once', what }]
        },
        actors: [
          { process: 'one', act: () => one.settle(claimedTimers, 'failed', inFlight) },
          { process: 'one', act: () => one.claim(leases, inFlight) },
        ],
      }
    },
  },
]

/** By today's calendar, nothing is planned on January 2. */
async function judgeDayOff(world: World): Promise<Breach[]> {
  const { timers } = await readRows(world)
  const at = timers.map(({ scheduled_for }) => new Date(scheduled_for).toISOString())
  if (at.length === 1 && at[0] === '2030-01-03T09:00:00.000Z') return []
  return [
    { promise: 'at-least-once', what: `its next occurrence is ${at.join(', ') || 'none'}, not 2030-01-03` },
  ]
}
