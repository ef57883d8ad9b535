import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { Process } from '../process.ts'
import type { Scenario } from '../scenario.ts'
import type { Actor } from '../schedule.ts'
import type { World } from '../world.ts'
import { LEASE_OVER_MS } from './setups.ts'
import { type About, type Met, MOVES, type Move, type Yard } from './operations.ts'

/** What a user may be refused, where the other came first. */
const REFUSALS = ['conflict', 'already_ended', 'not_found', 'invalid_request']
const LOST = 'store_unavailable'
const CALENDAR = { name: 'off', dates: {}, weekend: [] }

/** An alarm in each state. Those that live are reviewed with their calendar. */
async function yardOf(world: World): Promise<Yard> {
  const [one, two] = [await world.process('one'), await world.process('two')]
  await one.store.putCalendar(ANN.tenant, CALENDAR, one.bench.context())
  const hourly = { every: '1h', exclude: 'off' } as const
  const awaiting = await one.bench.alarm({ delay: '59m' }, { key: 'awaiting', ack: 'report' })
  const flying = await one.bench.alarm(hourly, { key: 'flying' })
  const ended = await one.bench.alarm({ delay: '2h' }, { key: 'ended' })
  await one.bench.cancel(ended)
  world.clock.step(59 * 60_000)
  const held = new world.subject.InFlightSet()
  await one.settle((await one.take(await one.own(), held)).timers, 'delivered', held)
  world.clock.step(60_000)
  const leases = await one.own()
  const { timers: takings } = await one.take(leases, held)
  const now = new Date(world.clock.now()).toISOString()
  const due = await two.bench.alarm({ at: now }, { key: 'due' })
  if (takings.length !== 1) throw new Error('the scenario begins with something in flight')
  return { world, leases, takings, held, ids: { due, flying, awaiting, ended } }
}

/** Where a move is made whose partner is this: where both mean something, if there is such a place. */
function aboutOf(yard: Yard, move: Move, other: Move): About {
  const met: Met = move.meets ?? other.meets ?? 'due'
  return { yard, key: met, id: yard.ids[met === 'new' ? 'due' : met] }
}

/** Does it again where the answer was lost, as a user or an engine does. */
async function surely(act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== LOST) throw thrown
    await act()
  }
}

async function processOf(world: World, { by }: Move, isSecond: boolean): Promise<Process> {
  if (by === 'owner') return world.process('one')
  if (by === 'heir') return world.process(isSecond ? 'four' : 'three')
  return world.process(isSecond ? 'five' : 'two')
}

function scenarioOf(moves: readonly Move[], loses = false): Scenario {
  const [first, second] = moves as [Move, Move]
  const what = loses ? ' whose commit loses its answer' : ''
  return {
    name: `pair: ${first.name}${what} | ${second.name}`,
    isOfPairs: true,
    refusals: loses ? [...REFUSALS, LOST] : REFUSALS,
    async setUp(world) {
      const yard = await yardOf(world)
      const actors: Actor[] = []
      if (moves.some(({ by }) => by === 'heir')) world.clock.step(LEASE_OVER_MS)
      else world.clock.step(1)
      for (const [index, move] of moves.entries()) {
        const process = await processOf(world, move, index === 1)
        const about = aboutOf(yard, move, index === 0 ? second : first)
        // A user's connection is there before the gate is shut.
        await world.guest(process.name)
        // What cannot be prepared in that state is refused twice.
        await move.prepare?.(process, about.id).catch(() => {})
        const act = () => move.act(process, about)
        const isLossy = loses && index === 0
        if (isLossy) process.gate.faults.push({ name: 'COMMIT', loses: 'answer' })
        actors.push({ process: process.name, act: isLossy ? () => surely(act) : act })
      }
      return { actors, hasPruned: moves.some(({ name }) => name === 'prune') }
    },
  }
}

/** Moves of which one process makes one at a time. */
const ALONE: ReadonlySet<string> = new Set(['beat', 'disown'])

function mayMeet(a: Move, b: Move): boolean {
  if (a === b) return a.by !== 'owner'
  // One delivery is settled once.
  const areBothOfOneFlight = [a, b].every(({ name }) => name.startsWith('settle') || name === 'transact')
  return !areBothOfOneFlight && !(ALONE.has(a.name) && ALONE.has(b.name))
}

/** What a lost answer is tried against. */
const WITNESSES = ['cancel', 'take', 'takeover']
/** A user's own commit is the user's affair; what was released twice cannot be told from what was not. */
const NOT_LOST = /user’s transaction|released/

/** Every two of the moves, and each of them with its answer lost while another looks on. */
export const pairScenarios: readonly Scenario[] = [
  ...MOVES.flatMap((first, place) =>
    MOVES.slice(place)
      .filter((second) => mayMeet(first, second))
      .map((second) => scenarioOf([first, second])),
  ),
  ...MOVES.filter(({ name }) => !NOT_LOST.test(name)).flatMap((lossy) =>
    MOVES.filter(({ name }) => WITNESSES.includes(name))
      .filter((witness) => witness !== lossy && mayMeet(lossy, witness))
      .map((witness) => scenarioOf([lossy, witness], true)),
  ),
]
