import type { Violation } from '../judge/breach.ts'
import type { FaultCount } from './faults.ts'
import { type Kind, type Plan, planOf } from './plan.ts'
import type { Played } from './play.ts'
import { play } from './play.ts'
import { playOnFile } from './sqlite/play-on-file.ts'

/** What one seed came to, small enough to be sent from one thread to another. */
export interface Result {
  readonly seed: number
  readonly kind: Kind
  readonly violations: readonly Violation[]
  readonly occurrences: number
  readonly deliveries: number
  readonly virtualMs: number
  readonly faults: readonly (readonly [fault: string, tally: FaultCount])[]
  /** Of all that happened: the same for the same seed. */
  readonly hash: string
}

/** On what the processes of a world keep their alarms: the simulated database, or one real SQLite file. */
export type StoreName = 'simulated' | 'sqlite'

/** Lets a plan happen on such a store. */
export function playOn(store: StoreName, plan: Plan, withTrace = false): Promise<Played> {
  return store === 'sqlite' ? playOnFile(plan, withTrace) : play(plan, withTrace)
}

/**
 * What a seed stands for on such a store. A real file is looked at every 25 ms, and years of that are too many looks; and
 * its processes share one machine, of which no single clock can be set, and wait for no answers between statements.
 */
export function planFor(store: StoreName, seed: number): Plan {
  if (store === 'simulated') return planOf(seed)
  const plan = planOf(seed, 'rush')
  return { ...plan, faults: plan.faults.filter(({ fault }) => fault !== 'clockStep' && fault !== 'stall') }
}

/** Runs a seed. */
export async function resultOf(store: StoreName, seed: number): Promise<Result> {
  return summed(await playOn(store, planFor(store, seed)))
}

/** What a run came to. */
function summed({ plan, world, judgement }: Played): Result {
  const { occurrences, deliveries } = judgement.figures
  return {
    seed: plan.seed,
    kind: plan.kind,
    violations: judgement.violations,
    occurrences,
    deliveries,
    virtualMs: plan.endMs,
    faults: [...world.faults.tallies],
    hash: world.trace.hash,
  }
}

/** What is told of a seed that did not come to its end. */
export function unfinished(of: { store: StoreName; seed: number }, wrong: Violation): Result {
  const { seed, kind } = planFor(of.store, of.seed)
  return {
    seed,
    kind,
    violations: [wrong],
    occurrences: 0,
    deliveries: 0,
    virtualMs: 0,
    faults: [],
    hash: '',
  }
}
