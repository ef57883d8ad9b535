import type { Fault } from './faults.ts'
import { hamlet, wrongsOf } from './hamlet.ts'
import type { SimulatedProcess } from './process.ts'
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
export async function sweep({ seed, fault = 'kill', every = 1 }: SweepOptions): Promise<Sweep> {
  const calm = await live(seed, fault, null)
  const places = [...Array(calm.events).keys()].flatMap((n) => [
    { n: n + 1, when: 'before' as const },
    { n: n + 1, when: 'after' as const },
  ])
  const tried = places.filter((_, index) => index % every === 0)
  let inFlight = 0
  const wrong = [...calm.wrong]
  for (const place of tried) {
    const lived = await live(seed, fault, place)
    inFlight += lived.inFlight
    wrong.push(...lived.wrong.map((each) => `${fault} ${place.when} event ${place.n}: ${each}`))
  }
  return { places: places.length, runs: tried.length, inFlight, wrong }
}

interface Place {
  readonly n: number
  readonly when: 'before' | 'after'
}

async function live(seed: number, fault: SweptFault, place: Place | null) {
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
