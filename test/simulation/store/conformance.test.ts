import { describe, test } from 'vitest'
import { type ConformanceCase, conformance, type OpenStore } from '../../../src/stores/conformance/index.ts'
import { SimulatedDatabase } from './database.ts'
import { SimulatedStore } from './store.ts'

/** Cases that count leases. A pool with one shard has only one lease. */
const COUNTS_LEASES: readonly string[] = [
  'ownership: reports the lease holder of each pool and what is pending there',
  'ownership: another process gets no lease while the first one sends heartbeats',
  'ownership: another process takes over at once from one that released its lease',
  'ownership: a claim under an old epoch returns nothing and reports the lease as lost (fenced)',
]

function withShards(shards: number): OpenStore {
  return async (clock) => {
    const database = new SimulatedDatabase({ now: () => clock.now(), shards })
    let processes = 0
    const openOne = async () => {
      processes += 1
      return new SimulatedStore({ database, process: `p${processes}`, clock, clockIsAuthority: true })
    }
    return { store: await openOne(), peer: openOne, transact: true }
  }
}

describe.each([
  ['with one shard per pool', withShards(1), conformance],
  ['with eight', withShards(8), conformance.filter(({ name }) => !COUNTS_LEASES.includes(name))],
] satisfies [string, OpenStore, readonly ConformanceCase[]][])('the simulated store %s', (_, open, cases) => {
  test.for(cases)('$name', ({ run }, { skip }) => run(open, skip))
})
