import { describe, test } from 'vitest'
import { testDatabase } from '../../../test/postgres/database.ts'
import { type ConformanceCase, conformance, type OpenStore } from '../conformance/index.ts'
import { openPostgres } from './index.ts'

const TABLES = [
  'alarms', 'idempotency_keys', 'timers', 'outcomes', 'events', 'tallies', 'processes', 'shards', 'in_flight_batches',
  'documents', 'inbox',
] as const // biome-ignore format: a list
/** Cases that count leases, of which a pool of one shard has one. */
const COUNTS_LEASES: readonly string[] = [
  'ownership: reports the lease holder of each pool and what is pending there',
  'ownership: another process gets no lease while the first one sends heartbeats',
  'ownership: another process takes over at once from one that released its lease',
  'ownership: a claim under an old epoch returns nothing and reports the lease as lost (fenced)',
]

/** What rows are numbered by, and where a plain number could be another one: each case is to go past it. */
const NUMBERED = [
  'alarms_seq_seq',
  'timers_id_seq',
  'events_seq_seq',
  'in_flight_batches_id_seq',
  'inbox_seq_seq',
] as const
const LARGE = 2n ** 53n - 3n

const { url, client } = testDatabase()

/** Each case has the tables to itself: making them anew takes longer than emptying them. */
function inSchema(schema: string, shards: number): OpenStore {
  return async (clock) => {
    const openOne = () => openPostgres({ url, schema, shards, clock, clockIsAuthority: true })
    const dispose = async () => {
      await client.query(TABLES.map((table) => `DELETE FROM ${schema}.${table}`).join(';'))
      await client.query(`DELETE FROM ${schema}.meta WHERE name = 'pruned_to'`)
    }
    return { store: await openOne(), peer: openOne, transact: true, dispose }
  }
}

/** The same with rows that are numbered beyond 2^53. */
function withLargeNumbers(schema: string, shards: number): OpenStore {
  const open = inSchema(schema, shards)
  return async (clock) => {
    const opened = await open(clock)
    for (const sequence of NUMBERED)
      await client.query(`ALTER SEQUENCE ${schema}.${sequence} RESTART WITH ${LARGE}`)
    return opened
  }
}

describe.each([
  ['with one shard per pool', inSchema('one', 1), conformance],
  ['with sixty-four', inSchema('many', 64), conformance.filter(({ name }) => !COUNTS_LEASES.includes(name))],
  ['with rows beyond 2^53', withLargeNumbers('large', 1), conformance],
] satisfies [string, OpenStore, readonly ConformanceCase[]][])('PostgreSQL %s', (_, open, cases) => {
  test.for(cases)('$name', ({ run }, { skip }) => run(open, skip))
})
