import type { Violation } from '../judge/breach.ts'
import { bootPlanOf } from './boot-plan.ts'
import type { FaultCount } from './faults.ts'
import { type Kind, type Plan, planOf } from './plan.ts'
import type { Played } from './play.ts'
import { play } from './play.ts'
import { playOnFile } from './sqlite/play-on-file.ts'

/** The result of a seed, small enough to be passed between threads. */
export interface Result {
  readonly seed: number
  readonly kind: Kind
  readonly violations: readonly Violation[]
  readonly occurrences: number
  readonly deliveries: number
  readonly virtualMs: number
  readonly faults: readonly (readonly [fault: string, tally: FaultCount])[]
  /** The hash of the trace: the same for the same seed. */
  readonly hash: string
}

/** The store the processes use: the simulated database, or one real SQLite file. */
export type StoreName = 'simulated' | 'sqlite'

/** Runs a plan on this store. */
export function playOn(store: StoreName, plan: Plan, withTrace = false): Promise<Played> {
  return store === 'sqlite' ? playOnFile(plan, withTrace) : play(plan, withTrace)
}

/**
 * The plan of a seed on this store. A real file is polled every 25 ms, which is too often for a simulated year. Its
 * processes share one machine, so no single clock can be stepped, and they wait for no responses between statements.
 */
export function planFor(store: StoreName, seed: number, isBoot = false): Plan {
  if (store === 'simulated') return isBoot ? bootPlanOf(seed) : planOf(seed)
  const plan = isBoot ? bootPlanOf(seed) : planOf(seed, 'rush')
  return { ...plan, faults: plan.faults.filter(({ fault }) => fault !== 'clockStep' && fault !== 'stall') }
}

/** Runs a seed. */
export async function resultOf(store: StoreName, seed: number, isBoot = false): Promise<Result> {
  return summed(await playOn(store, planFor(store, seed, isBoot)))
}

/** Summarizes a run. */
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

/** The result of a seed that did not finish. */
export function unfinished(
  of: { store: StoreName; seed: number; isBoot: boolean },
  wrong: Violation,
): Result {
  const { seed, kind } = planFor(of.store, of.seed, of.isBoot)
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
