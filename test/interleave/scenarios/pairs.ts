import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { Process } from '../process.ts'
import type { Scenario } from '../scenario.ts'
import type { Actor } from '../schedule.ts'
import type { World } from '../world.ts'
import { type AlarmState, type Fixture, OPERATIONS, type Operation, type Target } from './operations.ts'
import { LEASE_OVER_MS } from './setups.ts'

/** Errors a user may get if the other operation came first. */
const REFUSALS = ['conflict', 'already_ended', 'not_found', 'invalid_request']
const LOST = 'store_unavailable'
const CALENDAR = { name: 'off', dates: {}, weekend: [] }

/** An alarm in each state. Live ones use a calendar, so that they are computed again. */
async function fixtureOf(world: World): Promise<Fixture> {
  const [one, two] = [await world.process('one'), await world.process('two')]
  await one.store.putCalendar(ANN.tenant, CALENDAR, one.bench.context())
  const hourly = { every: '1h', exclude: 'off' } as const
  const awaiting = await one.bench.alarm({ delay: '59m' }, { key: 'awaiting', ack: 'report' })
  const inFlightAlarm = await one.bench.alarm(hourly, { key: 'inFlight' })
  const ended = await one.bench.alarm({ delay: '2h' }, { key: 'ended' })
  await one.bench.cancel(ended)
  world.clock.step(59 * 60_000)
  const inFlight = new world.subject.InFlightSet()
  await one.settle((await one.claim(await one.acquire(), inFlight)).timers, 'delivered', inFlight)
  world.clock.step(60_000)
  const leases = await one.acquire()
  const { timers: claimedTimers } = await one.claim(leases, inFlight)
  const now = new Date(world.clock.now()).toISOString()
  const due = await two.bench.alarm({ at: now }, { key: 'due' })
  if (claimedTimers.length !== 1) throw new Error('the scenario begins with something in flight')
  return { world, leases, claimedTimers, inFlight, ids: { due, inFlight: inFlightAlarm, awaiting, ended } }
}

/** The alarm of an operation, given the other one: in a state where both are meaningful, if there is one. */
function targetOf(fixture: Fixture, operation: Operation, other: Operation): Target {
  const state: AlarmState = operation.state ?? other.state ?? 'due'
  return { fixture, key: state, id: fixture.ids[state === 'new' ? 'due' : state] }
}

/** Repeats an operation whose answer was lost, as a user or the engine does. */
async function untilAnswered(act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== LOST) throw thrown
    await act()
  }
}

async function processOf(world: World, { by }: Operation, isSecond: boolean): Promise<Process> {
  if (by === 'holder') return world.process('one')
  if (by === 'successor') return world.process(isSecond ? 'four' : 'three')
  return world.process(isSecond ? 'five' : 'two')
}

function scenarioOf(operations: readonly Operation[], loses = false): Scenario {
  const [first, second] = operations as [Operation, Operation]
  const what = loses ? ' whose commit loses its answer' : ''
  return {
    name: `pair: ${first.name}${what} | ${second.name}`,
    isPair: true,
    refusals: loses ? [...REFUSALS, LOST] : REFUSALS,
    async setUp(world) {
      const fixture = await fixtureOf(world)
      const actors: Actor[] = []
      if (operations.some(({ by }) => by === 'successor')) world.clock.step(LEASE_OVER_MS)
      else world.clock.step(1)
      for (const [index, operation] of operations.entries()) {
        const process = await processOf(world, operation, index === 1)
        const target = targetOf(fixture, operation, index === 0 ? second : first)
        // The user's connection must exist before the interceptor is active.
        await world.userConnection(process.name)
        // If it cannot be prepared in that state, the operation itself is refused, too.
        await operation.prepare?.(process, target.id).catch(() => {})
        const act = () => operation.act(process, target)
        const isLossy = loses && index === 0
        if (isLossy) process.interceptor.faults.push({ name: 'COMMIT', loses: 'answer' })
        actors.push({ process: process.name, act: isLossy ? () => untilAnswered(act) : act })
      }
      return { actors, hasPruned: operations.some(({ name }) => name === 'prune') }
    },
  }
}

/** Operations that a process runs one at a time. */
const SEQUENTIAL: ReadonlySet<string> = new Set(['heartbeat', 'release leases'])

function mayRace(a: Operation, b: Operation): boolean {
  if (a === b) return a.by !== 'holder'
  // A delivery is settled once.
  const settleOneDelivery = [a, b].every(({ name }) => name.startsWith('settle') || name === 'transact')
  return !settleOneDelivery && !(SEQUENTIAL.has(a.name) && SEQUENTIAL.has(b.name))
}

/** The operations that race with one whose answer is lost. */
const OBSERVERS = ['cancel', 'claim', 'takeover']
/** A user's commit is the user's responsibility, and a repeated release is indistinguishable from a single one. */
const NOT_LOST = /user’s transaction|released/

/** Every pair of operations, and each operation with a lost answer racing with some others. */
export const pairScenarios: readonly Scenario[] = [
  ...OPERATIONS.flatMap((first, place) =>
    OPERATIONS.slice(place)
      .filter((second) => mayRace(first, second))
      .map((second) => scenarioOf([first, second])),
  ),
  ...OPERATIONS.filter(({ name }) => !NOT_LOST.test(name)).flatMap((lossy) =>
    OPERATIONS.filter(({ name }) => OBSERVERS.includes(name))
      .filter((observer) => observer !== lossy && mayRace(lossy, observer))
      .map((observer) => scenarioOf([lossy, observer], true)),
  ),
]
