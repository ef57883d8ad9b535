import { hamlet, wrongsOf } from './hamlet.ts'

/** How a sweep is made. */
export interface SweepOptions {
  readonly seed: number
  /** Only every so many-th place is tried (each). */
  readonly every?: number
}

/** What came of a sweep. */
export interface Sweep {
  /** How many places there are at which the process can die. */
  readonly places: number
  readonly runs: number
  /** In how many of these the process was delivering something, or waited for a statement that writes or takes. */
  readonly inFlight: number
  /** What went wrong, and at which place. */
  readonly wrong: readonly string[]
}

const RUN_MS = 30_000
/** What came due in these last seconds may still be tried again. */
const MARGIN_MS = 12_000

/**
 * Lives through the same short world again and again. Each time its first process is killed at another of its events:
 * right before it, and right after. What can be lost at a place where a process waits, is lost in one of these runs.
 */
export async function sweep({ seed, every = 1 }: SweepOptions): Promise<Sweep> {
  const events = await live(seed, null)
  const places = [...Array(events.count).keys()].flatMap((n) => [
    { n: n + 1, when: 'before' as const },
    { n: n + 1, when: 'after' as const },
  ])
  const tried = places.filter((_, index) => index % every === 0)
  let inFlight = 0
  const wrong = [...events.wrong]
  for (const place of tried) {
    const lived = await live(seed, place)
    inFlight += lived.inFlight
    wrong.push(...lived.wrong.map((each) => `killed ${place.when} event ${place.n}: ${each}`))
  }
  return { places: places.length, runs: tried.length, inFlight, wrong }
}

interface Place {
  readonly n: number
  readonly when: 'before' | 'after'
}

async function live(seed: number, place: Place | null) {
  const small = hamlet({ seed, trace: 'hash' })
  const { world } = small
  const [process] = world.processes
  if (place !== null) world.killAt(process!, place.n, place.when)
  await world.run(RUN_MS)
  const wrong = wrongsOf(small, world.now - MARGIN_MS)
  if (place !== null && !process!.isDead) wrong.push('it was not killed')
  return { count: process!.events, inFlight: world.faults.of('killAt').inFlight, wrong }
}
