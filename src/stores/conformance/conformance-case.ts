import type { Clock } from '../../time/index.ts'
import type { Store } from '../store.ts'
import { Harness, SteppedClock } from './harness.ts'
import { assertInvariants } from './invariants.ts'

/** A store under test. What it cannot do is a text, which becomes the reason of the skip. */
export interface Examinee {
  readonly store: Store
  /** Opens the store of a second process on the same rows, or says why there is none. */
  readonly peer: (() => Promise<Store>) | string
  /** Whether `set` can join the transaction of `transact`; if not, why. */
  readonly transact: true | string
  /** Cleans up after the store was closed. */
  dispose?(): Promise<void>
}

/** Opens an empty store that uses this clock. */
export type OpenStore = (clock: Clock) => Promise<Examinee>

/** One behaviour that every store must have. */
export interface ConformanceCase {
  readonly name: string
  /** Runs it on a new store. `skip` gets the reason why the store cannot do this, and must not return. */
  run(open: OpenStore, skip?: (reason: string) => never): Promise<void>
}

/** The cases of one risk. After each, the invariants of every store are checked too. */
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
