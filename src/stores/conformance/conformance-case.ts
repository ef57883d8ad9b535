import type { Clock } from '../../time/index.ts'
import type { Store } from '../store.ts'
import { Harness } from './harness.ts'
import { assertInvariants } from './invariants.ts'
import { SteppedClock } from './stepped-clock.ts'

/** A store to be examined. What it cannot do is said in words, which become the reason of the skip. */
export interface Examinee {
  readonly store: Store
  /** Opens another process's view of the same rows, or says why there can be none. */
  readonly peer: (() => Promise<Store>) | string
  /** Whether `transact` gives work a transaction that `set` takes as its own; if not, why. */
  readonly transact: true | string
  /** Removes what the store leaves behind. It is closed already. */
  dispose?(): Promise<void>
}

/** Opens an empty store that goes by the given clock. */
export type OpenStore = (clock: Clock) => Promise<Examinee>

/** One thing every store must do. */
export interface ConformanceCase {
  readonly name: string
  /** Runs it on a store of its own. `skip` must not return: it is told why the store cannot do this. */
  run(open: OpenStore, skip?: (reason: string) => never): Promise<void>
}

/** The cases of one risk; after each, what must hold of any store at any time is checked too. */
export function casesOf(
  risk: string,
  bodies: Readonly<Record<string, (harness: Harness) => Promise<void>>>,
): ConformanceCase[] {
  return Object.entries(bodies).map(([title, body]) => ({
    name: `${risk}: ${title}`,
    async run(open, skip = failOnSkip) {
      const clock = new SteppedClock()
      const examinee = await open(clock)
      const harness = new Harness(examinee, clock, skip)
      try {
        await body(harness)
        await assertInvariants(harness)
      } finally {
        await harness.close()
        await examinee.dispose?.()
      }
    },
  }))
}

function failOnSkip(reason: string): never {
  throw new Error(`this store cannot: ${reason}`)
}
