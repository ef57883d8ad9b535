import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { exportLines, importLines, systemClock } from '../../src/hosts/node/index.ts'
import { open, type Wakeful } from '../../src/index.ts'
import { Database } from '../../src/stores/postgres/connection/database.ts'
import { examinePostgres } from '../../src/stores/postgres/index.ts'
import { testDatabase } from './database.ts'
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts'

const { url: direct, client } = testDatabase()
let bouncer: PgBouncer
let url: string

beforeAll(async () => {
  bouncer = await startPgBouncer(new URL(direct))
  url = bouncer.through(direct)
}, 240_000)
afterAll(() => bouncer.stop())

async function opened(at: string): Promise<Wakeful> {
  const wakeful = await open(at)
  onTestFinished(() => wakeful.close())
  return wakeful
}

const soon = (ms: number) => new Date(Date.now() + ms)

describe('behind PgBouncer in transaction mode', () => {
  it('sets, fires, retries, cancels and follows the log without configuration', async () => {
    const wakeful = await opened(url)
    const fired: string[] = []
    wakeful.handle('x', (fire) => void fired.push(fire.message))
    wakeful.handle('once-more', (fire) => {
      if (fire.attempt === 1) throw new Error('no')
      fired.push(fire.message)
    })
    await wakeful.start()
    const messages = Array.from({ length: 300 }, (_, i) => `m${i}`)
    await Promise.all(
      messages.map((message) => wakeful.set({ delay: '100ms' }, { target: 'x', message, key: message })),
    )
    const backoff = { baseMs: 10, capMs: 10 }
    await wakeful.set({ delay: '10ms' }, { target: 'once-more', message: 'again', backoff })
    const later = await wakeful.set('in 1 hour', { target: 'x' })
    expect(await wakeful.cancel(later.id)).toMatchObject({ outcome: 'cancelled' })
    await expect.poll(() => fired.length, { timeout: 50_000 }).toBe(301)
    expect(new Set(fired)).toEqual(new Set([...messages, 'again']))
    // The last handler has run; its outcome is about to be written.
    const logged = async () => {
      const types = await Array.fromAsync(wakeful.events(), ({ type }) => type)
      return types.filter((type) => type === 'alarm.fired').length
    }
    await expect.poll(logged, { timeout: 10_000 }).toBe(301)
  })

  it('finds another process’s sets at its next heartbeat', async () => {
    const [owner, other] = [await opened(`${url}?schema=two`), await opened(`${url}?schema=two`)]
    const fired = Promise.withResolvers<number>()
    owner.handle('x', (fire) => fired.resolve(fire.driftMs))
    await owner.start()
    await other.set(soon(200), { target: 'x' })
    expect(await fired.promise).toBeGreaterThanOrEqual(0)
  })

  it('shares the store with a process that has a direct connection', async () => {
    const [near, far] = [await opened(`${direct}?schema=mixed`), await opened(`${url}?schema=mixed`)]
    const fired: string[] = []
    for (const each of [near, far]) each.handle('x', (fire) => void fired.push(fire.message))
    await Promise.all([near.start(), far.start()])
    for (let i = 0; i < 40; i++) await [near, far][i % 2]!.set(soon(500), { target: 'x', message: `m${i}` })
    await expect.poll(() => fired.length, { timeout: 50_000 }).toBe(40)
  })

  it('writes in your transaction, and in that of a transactional handler', async () => {
    const at = `${url}?schema=tx`
    const wakeful = await opened(at)
    await client.query('CREATE TABLE ledger (note text)')
    wakeful.handle(
      'pay',
      async (fire) => void (await (fire.tx as pg.ClientBase).query("INSERT INTO ledger VALUES ('paid')")),
      {
        transactional: true,
      },
    )
    await wakeful.start()
    const own = new pg.Client({ connectionString: url })
    await own.connect()
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await own.query('BEGIN')
      await wakeful.set({ delay: '10ms' }, { target: 'pay', tx: own })
      await own.query(end)
    }
    await own.end()
    const paid = async () => (await client.query('SELECT note FROM ledger')).rowCount
    await expect.poll(paid, { timeout: 30_000 }).toBe(1)
  })

  it('is exported and imported', async () => {
    const wakeful = await opened(`${url}?schema=moved`)
    await wakeful.set({ cron: '0 9 * * *', timezone: 'Europe/Rome' }, { target: 'x' })
    const lines = await Array.fromAsync(exportLines(`${url}?schema=moved`))
    const texts = async function* () {
      yield* lines
    }
    expect(await importLines(`${url}?schema=moved_too`, texts())).toEqual({ imported: 1, known: 0 })
  })

  it('is reported by doctor', async () => {
    const checks = await examinePostgres(url, systemClock)
    expect(checks.find(({ name }) => name === 'server')?.detail).toMatch(/through a pooler/)
    const straight = await examinePostgres(direct, systemClock)
    expect(straight.find(({ name }) => name === 'server')?.detail).not.toMatch(/pooler/)
  })

  it('leaves no setting and no prepared statement behind for other users of its connections', async () => {
    const wakeful = await opened(`${url}?schema=clean`)
    for (let i = 0; i < 20; i++) await wakeful.set('in 1 hour', { target: 'x', key: `k${i}` })
    const others = Array.from({ length: 6 }, () => new pg.Client({ connectionString: url }))
    await Promise.all(others.map((other) => other.connect()))
    const found = await Promise.all(
      others.map(async (other) => {
        await other.query('BEGIN')
        const { rows } = await other.query(`SELECT current_setting('enable_seqscan') AS scans,
          current_setting('statement_timeout') AS timeout, (SELECT count(*)::int FROM pg_prepared_statements) AS prepared`)
        return rows[0]
      }),
    )
    await Promise.all(others.map((other) => other.end()))
    expect(found).toEqual(Array(6).fill({ scans: 'on', timeout: '0', prepared: 0 }))
  })
})

describe('a pooler in the URL', () => {
  it('may be declared even if none is found', async () => {
    const wakeful = await opened(`${direct}?schema=said&pooler=yes`)
    await wakeful.set('in 1 hour', { target: 'x' })
    expect(await wakeful.stats()).toMatchObject({ total: 1 })
    await expect(open(`${direct}?pooler=maybe`)).rejects.toMatchObject({
      code: 'invalid_request',
      message: /pooler=maybe in the URL must be yes or no/,
    })
  })

  it('is required if it was denied wrongly', async () => {
    await expect(open(`${url}?schema=denied&pooler=no`)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: /the connection goes through a pooler/,
    })
  })

  it('prevents named prepared statements, unless they were requested', async () => {
    const prepared = async (options: string) => {
      const database = await Database.open({ url: `${direct}?${options}`, connectionsMax: 1 })
      await database.session.row('SELECT 1')
      const [count] = (await database.session.row('SELECT count(*) FROM pg_prepared_statements'))!
      await database.close()
      return count as number
    }
    expect(await prepared('pooler=no')).toBeGreaterThan(0)
    expect(await prepared('pooler=yes')).toBe(0)
    expect(await prepared('pooler=yes&prepare=yes')).toBeGreaterThan(0)
    expect(await prepared('prepare=no')).toBe(0)
  })
})
