import type { FaultName } from './faults.ts'
import { minimalScenario, problemsOf } from './minimal-scenario.ts'
import { type Plan, planOf } from './plan.ts'
import type { PlannedFault } from './planned-faults.ts'
import { play } from './play.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** The faults of a sweep. */
export type SweptFault = Extract<
  FaultName,
  'kill' | 'close' | 'pause' | 'partition' | 'hang' | 'outage' | 'diskFull' | 'clockStep'
>

/** Options of a sweep. */
export interface SweepOptions {
  readonly seed: number
  /** The fault (`kill`). */
  readonly fault?: SweptFault
  /** Try only every n-th point (default: all). */
  readonly every?: number
}

/** The result of a sweep. */
export interface Sweep {
  /** The number of points at which a fault can hit the process. */
  readonly places: number
  readonly runs: number
  /** The number of runs in which the fault hit something in flight. */
  readonly inFlight: number
  /** The problems found, with their points. */
  readonly wrong: readonly string[]
}

const RUN_MS = 40_000
/** Occurrences due in these last seconds may still be retried. */
const MARGIN_MS = 18_000
/** Longer than a lease and its detection. */
const LONG_MS = 5_000

/** How many alarms of the plan are used, and when its processes are up. */
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
 * Runs the same short world many times. Each time a fault hits its first process at another event, right before or
 * after it. Every point at which the process waits is covered, so whatever can be lost there is lost in one of the
 * runs.
 */
export function sweep({ seed, fault = 'kill', every = 1 }: SweepOptions): Promise<Sweep> {
  return sweepBy(every, (place) => runOnce(seed, fault, place))
}

/**
 * The same with some alarms of a seed's plan, whose users reschedule, pause and cancel them, and with the judge, who
 * checks all promises. The fault is a kill.
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

/** The result of one run. */
interface RunResult {
  /** The number of events of the process. */
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
