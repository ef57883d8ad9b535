import type { Violation } from '../judge/breach.ts'
import type { Tally } from './faults.ts'
import { type Kind, planOf } from './plan.ts'
import type { Played } from './play.ts'
import { play } from './play.ts'

/** What one seed came to, small enough to be sent from one thread to another. */
export interface Result {
  readonly seed: number
  readonly kind: Kind
  readonly violations: readonly Violation[]
  readonly occurrences: number
  readonly deliveries: number
  readonly virtualMs: number
  readonly faults: readonly (readonly [fault: string, tally: Tally])[]
  /** Of all that happened: the same for the same seed. */
  readonly hash: string
}

/** Runs a seed. */
export async function resultOf(seed: number): Promise<Result> {
  return summed(await play(planOf(seed)))
}

/** What a run came to. */
export function summed({ plan, world, verdict }: Played): Result {
  const { occurrences, deliveries } = verdict.figures
  return {
    seed: plan.seed,
    kind: plan.kind,
    violations: verdict.violations,
    occurrences,
    deliveries,
    virtualMs: plan.endMs,
    faults: [...world.faults.tallies],
    hash: world.trace.hash,
  }
}
