import pg from 'pg'
import { onTestFinished } from 'vitest'
import { Harness, SteppedClock } from '../../src/stores/conformance/harness.ts'
import { openPostgres, type PostgresOptions, type PostgresStore } from '../../src/stores/postgres/index.ts'

let schemas = 0

/** A conformance harness on its own schema, with extra connections. Everything ends with the test. */
export interface PostgresHarness {
  readonly bench: Harness
  readonly store: PostgresStore
  readonly schema: string
  /** Another process's view of the same rows. */
  peer(): Promise<PostgresStore>
  /** Another connection. */
  connect(): Promise<pg.Client>
}

/** Opens a store in virtual time, with one shard per pool by default. */
export async function postgresBench(
  url: string,
  options: Partial<PostgresOptions> = {},
): Promise<PostgresHarness> {
  schemas += 1
  const schema = `h${process.pid}_${schemas}`
  const clock = new SteppedClock()
  const openOne = () => openPostgres({ url, schema, clock, clockIsAuthority: true, shards: 1, ...options })
  const store = await openOne()
  const bench = new Harness({ store, peer: openOne, transact: true }, clock, (reason) => {
    throw new Error(reason)
  })
  onTestFinished(() => bench.close())
  return {
    bench,
    store,
    schema,
    peer: () => bench.peer() as Promise<PostgresStore>,
    async connect() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      return client
    },
  }
}

/** A client with an open transaction. */
export async function begun(connecting: Promise<pg.Client>): Promise<pg.Client> {
  const client = await connecting
  await client.query('BEGIN')
  return client
}

/** Whether a promise is still pending after a moment. */
export async function isWaiting(promise: Promise<unknown>, ms = 40): Promise<boolean> {
  const waited = Symbol('waited')
  const timeout = new Promise((resolve) => setTimeout(resolve, ms, waited))
  return (await Promise.race([promise.catch(() => {}), timeout])) === waited
}
