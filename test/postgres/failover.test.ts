import { connect, createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { freePort } from './programs.ts'
import { type PostgresServer, startPostgres, startStandby } from './server.ts'

/** A stable address in front of changing servers, like a virtual address, a proxy or DNS. */
class Address {
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  port = 0
  #target = 0

  constructor() {
    this.#server = createServer((near) => {
      const far = connect(this.#target, '127.0.0.1')
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          this.#sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
      near.pipe(far)
      far.pipe(near)
    })
  }

  async listen(target: number): Promise<void> {
    this.#target = target
    this.port = await freePort()
    await new Promise<void>((resolve) => this.#server.listen(this.port, '127.0.0.1', resolve))
  }

  moveTo(target: number): void {
    this.#target = target
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.moveTo(0)
    this.#server.close()
  }
}

const servers: PostgresServer[] = []
const address = new Address()
afterAll(async () => {
  address.close()
  for (const server of servers) await server.stop()
})

async function asked(server: PostgresServer, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  try {
    let rows: unknown[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** Changes the clock for new connections: Wakeful's statements find this function first. */
const BEHIND_MS = 3_000
const CLOCK_BEHIND = [
  'CREATE SCHEMA behind',
  `CREATE FUNCTION behind.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$ SELECT pg_catalog.clock_timestamp() - interval '${BEHIND_MS} ms' $$`,
  'ALTER DATABASE postgres SET search_path = behind, pg_catalog',
]

it('loses nothing and fires nothing early when a standby with a slower clock takes over', async () => {
  const primary = await startPostgres()
  servers.push(primary)
  const standby = await startStandby(primary)
  servers.push(standby)
  // A commit is answered when the standby has it, too. Otherwise the last commits may be lost with the primary.
  await asked(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()')
  await address.listen(primary.port)
  const wakeful = await open(`postgres://postgres@127.0.0.1:${address.port}/postgres`, {
    onError: () => {},
  })
  const fired = new Map<string, { instant: number; at: number; drift: number }[]>()
  wakeful.handle('x', ({ message, occurrence, driftMs }) => {
    const seen = fired.get(message) ?? []
    seen.push({ instant: occurrence.scheduledFor.getTime(), at: Date.now(), drift: driftMs })
    fired.set(message, seen)
  })
  await wakeful.start()

  const set: string[] = []
  const begun = Date.now()
  const setOne = async (inMs: number) => {
    const message = `m${set.length}`
    await wakeful.set(new Date(begun + inMs), { target: 'x', message })
    set.push(message)
  }
  for (let i = 0; i < 60; i++) await setOne(i * 250)

  await primary.die()
  await asked(standby, 'SELECT pg_promote()')
  await asked(standby, `ALTER SYSTEM SET synchronous_standby_names = ''`, 'SELECT pg_reload_conf()')
  await asked(standby, ...CLOCK_BEHIND)
  address.moveTo(standby.port)

  const stillSet = async () => {
    try {
      await setOne(20_000)
      return true
    } catch {
      return false
    }
  }
  await expect.poll(stillSet, { timeout: 60_000, interval: 200 }).toBe(true)
  await expect.poll(() => fired.size, { timeout: 120_000, interval: 200 }).toBe(set.length)

  // Nothing was early by a correct host clock, nor by the store's.
  const seen = [...fired.values()].flat()
  expect(seen.filter(({ at, instant }) => at < instant)).toEqual([])
  expect(seen.filter(({ drift }) => drift < 0)).toEqual([])
  // Each occurrence has exactly one ending, including those in flight when the primary died.
  const records = new Map<string, number>()
  const read = async () => {
    records.clear()
    for await (const { type, occurrenceId } of wakeful.events())
      if (type === 'alarm.fired') records.set(occurrenceId!, (records.get(occurrenceId!) ?? 0) + 1)
    return records.size
  }
  // The handler may have run before its record is written.
  await expect.poll(read, { timeout: 60_000, interval: 200 }).toBeGreaterThanOrEqual(set.length)
  expect(new Set(records.values())).toEqual(new Set([1]))
  await wakeful.close()
}, 240_000)
