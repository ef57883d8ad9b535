import type { FaultName } from './faults.ts'
import { minimalScenario, problemsOf } from './minimal-scenario.ts'
import { type Plan, planOf } from './plan.ts'
import type { PlannedFault } from './planned-faults.ts'
import { play } from './play.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** What a process can meet at each of its places. */
export type SweptFault = Extract<
  FaultName,
  'kill' | 'close' | 'pause' | 'partition' | 'hang' | 'outage' | 'diskFull' | 'clockStep'
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
const ALARMS = 8
const UP_MS = 200

const INJECTORS: Readonly<Record<SweptFault, (world: World, process: SimulatedProcess) => void>> = {
  kill: (world, process) => world.kill(process),
  close: (world, process) => void world.close(process),
  pause: (world, process) => world.pause(process, LONG_MS),
  partition: (world, process) => world.partition(process, LONG_MS),
  hang: (world, process) => world.hang(process, LONG_MS),
  outage: (world) => world.outage(LONG_MS / 5),
  diskFull: (world) => world.fillDisk(LONG_MS),
  clockStep: (world, process) => world.step(process, -LONG_MS),
}

/**
 * Lives through the same short world again and again. Each time something befalls its first process at another of its
 * events: right before it, and right after. What can be lost at a place where a process waits, is lost in one of these.
 */
export function sweep({ seed, fault = 'kill', every = 1 }: SweepOptions): Promise<Sweep> {
  return sweepBy(every, (place) => runOnce(seed, fault, place))
}

/**
 * The same with some alarms of a seed's plan, which their users move, park and cancel meanwhile, and a judge who knows all
 * promises. The process is killed.
 */
export function sweepPlan({ seed, every = 1 }: Pick<SweepOptions, 'seed' | 'every'>): Promise<Sweep> {
  const whole = planOf(seed)
  const alarms = whole.alarms.slice(0, ALARMS)
  const plan = { ...whole, machines: 2, shards: 4, conditions: {}, alarms, faults: [] }
  return sweepBy(every, (place) => runPlan(plan, place))
}

async function sweepBy(
  every: number,
  runWith: (place: EventPoint | null) => Promise<RunResult>,
): Promise<Sweep> {
  const calm = await runWith(null)
  const places = [...Array(calm.events).keys()].flatMap((n) => [
    { n: n + 1, when: 'before' as const },
    { n: n + 1, when: 'after' as const },
  ])
  const tried = places.filter((_, index) => index % every === 0)
  let inFlight = 0
  const wrong = [...calm.wrong]
  for (const place of tried) {
    const result = await runWith(place)
    inFlight += result.inFlight
    wrong.push(...result.wrong.map((each) => `${place.when} event ${place.n}: ${each}`))
  }
  return { places: places.length, runs: tried.length, inFlight, wrong }
}

interface EventPoint {
  readonly n: number
  readonly when: 'before' | 'after'
}

/** What came of one run. */
interface RunResult {
  /** How many events the process had. */
  readonly events: number
  readonly inFlight: number
  readonly wrong: readonly string[]
}

async function runOnce(seed: number, fault: SweptFault, place: EventPoint | null): Promise<RunResult> {
  const small = minimalScenario({ seed, trace: 'hash' })
  const { world } = small
  const [process] = world.processes
  if (place !== null) world.at(process!, place.n, place.when, () => INJECTORS[fault](world, process!))
  await world.run(RUN_MS)
  const { count, inFlight } = world.faults.of(fault)
  const wrong = problemsOf(small, world.now - MARGIN_MS)
  if (place !== null && count === 0) wrong.push('it never came')
  return { events: process!.events, inFlight, wrong }
}

async function runPlan(plan: Plan, place: EventPoint | null): Promise<RunResult> {
  const point = place?.when === 'before' ? 'sent' : 'answered'
  const planned: Omit<PlannedFault, 'n'> = {
    fault: 'killAtEvent',
    at: UP_MS,
    machine: 0,
    ms: 0,
    statement: '',
    point,
  }
  const { world, judgement } = await play(
    place === null ? plan : { ...plan, faults: [{ ...planned, n: place.n }] },
  )
  const wrong = judgement.violations.map(({ promise, breach, text }) => `${promise}: ${breach}: ${text}`)
  return { events: world.processOn(0)!.events, inFlight: world.faults.of('killAtEvent').inFlight, wrong }
}
