import type { Fault } from './faults.ts'
import { hamlet, wrongsOf } from './minimal-scenario.ts'
import { type Plan, planOf } from './plan.ts'
import { play } from './play.ts'
import type { SimulatedProcess } from './process.ts'
import type { Strike } from './planned-faults.ts'
import type { World } from './world.ts'

/** What a process can meet at each of its places. */
export type SweptFault = Extract<
  Fault,
  'kill' | 'close' | 'pause' | 'partition' | 'hang' | 'outage' | 'diskFull' | 'step'
>

/** How a sweep is made. */
export interface SweepOptions {
  readonly seed: number
  /** What befalls the process (`kill`). */
  readonly fault?: SweptFault
  /** Only every so many-th place is tried (each). */
  readonly every?: number
}

/** What came of a sweep. */
export interface Sweep {
  /** How many places there are at which something can befall the process. */
  readonly places: number
  readonly runs: number
  /** In how many of these the fault hit something in flight. */
  readonly inFlight: number
  /** What went wrong, and at which place. */
  readonly wrong: readonly string[]
}

const RUN_MS = 40_000
/** What came due in these last seconds may still be tried again. */
const MARGIN_MS = 18_000
/** Longer than a lease, and than it takes to notice. */
const LONG_MS = 5_000

/** So many alarms of a plan, and when its processes are up. */
const ERRANDS = 8
const UP_MS = 200

const DEEDS: Readonly<Record<SweptFault, (world: World, process: SimulatedProcess) => void>> = {
  kill: (world, process) => world.kill(process),
  close: (world, process) => void world.close(process),
  pause: (world, process) => world.pause(process, LONG_MS),
  partition: (world, process) => world.partition(process, LONG_MS),
  hang: (world, process) => world.hang(process, LONG_MS),
  outage: (world) => world.outage(LONG_MS / 5),
  diskFull: (world) => world.fillDisk(LONG_MS),
  step: (world, process) => world.step(process, -LONG_MS),
}

/**
 * Lives through the same short world again and again. Each time something befalls its first process at another of its
 * events: right before it, and right after. What can be lost at a place where a process waits, is lost in one of these.
 */
export function sweep({ seed, fault = 'kill', every = 1 }: SweepOptions): Promise<Sweep> {
  return sweepBy(every, (place) => live(seed, fault, place))
}

/**
 * The same with some alarms of a seed's plan, which their users move, park and cancel meanwhile, and a judge who knows all
 * promises. The process is killed.
 */
export function sweepPlan({ seed, every = 1 }: Pick<SweepOptions, 'seed' | 'every'>): Promise<Sweep> {
  const whole = planOf(seed)
  const errands = whole.errands.slice(0, ERRANDS)
  const plan = { ...whole, machines: 2, shards: 4, weather: {}, errands, strikes: [] }
  return sweepBy(every, (place) => liveThrough(plan, place))
}

async function sweepBy(every: number, liveBy: (place: Place | null) => Promise<Lived>): Promise<Sweep> {
  const calm = await liveBy(null)
  const places = [...Array(calm.events).keys()].flatMap((n) => [
    { n: n + 1, when: 'before' as const },
    { n: n + 1, when: 'after' as const },
  ])
  const tried = places.filter((_, index) => index % every === 0)
  let inFlight = 0
  const wrong = [...calm.wrong]
  for (const place of tried) {
    const lived = await liveBy(place)
    inFlight += lived.inFlight
    wrong.push(...lived.wrong.map((each) => `${place.when} event ${place.n}: ${each}`))
  }
  return { places: places.length, runs: tried.length, inFlight, wrong }
}

interface Place {
  readonly n: number
  readonly when: 'before' | 'after'
}

/** What came of one run. */
interface Lived {
  /** How many events the process had. */
  readonly events: number
  readonly inFlight: number
  readonly wrong: readonly string[]
}

async function live(seed: number, fault: SweptFault, place: Place | null): Promise<Lived> {
  const small = hamlet({ seed, trace: 'hash' })
  const { world } = small
  const [process] = world.processes
  if (place !== null) world.at(process!, place.n, place.when, () => DEEDS[fault](world, process!))
  await world.run(RUN_MS)
  const { count, inFlight } = world.faults.of(fault)
  const wrong = wrongsOf(small, world.now - MARGIN_MS)
  if (place !== null && count === 0) wrong.push('it never came')
  return { events: process!.events, inFlight, wrong }
}

async function liveThrough(plan: Plan, place: Place | null): Promise<Lived> {
  const point = place?.when === 'before' ? 'sent' : 'answered'
  const strike: Omit<Strike, 'n'> = { fault: 'killAt', at: UP_MS, machine: 0, ms: 0, statement: '', point }
  const { world, judgement } = await play(
    place === null ? plan : { ...plan, strikes: [{ ...strike, n: place.n }] },
  )
  const wrong = judgement.violations.map(({ promise, breach, text }) => `${promise}: ${breach}: ${text}`)
  return { events: world.processOn(0)!.events, inFlight: world.faults.of('killAt').inFlight, wrong }
}
