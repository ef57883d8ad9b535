import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fire, open, type Wakeful } from '../../src/index.ts'
import { testDatabase } from './database.ts'

/** Calls in the user's transaction, and handlers in theirs. */
const { url, client } = testDatabase()
let wakeful: Wakeful
const pool = new pg.Pool({ connectionString: url, max: 2 })
// `pool.end()` returns before its connections have closed, and dropping the database may end them first.
pool.on('error', () => {})

beforeAll(async () => {
  wakeful = await open(url)
  await client.query('CREATE TABLE effects (occurrence text)')
})

afterAll(async () => {
  await wakeful.close()
  await pool.end()
})

describe('set and cancel in the caller’s transaction', () => {
  test('take effect when it commits, and never if it is rolled back', async () => {
    for (const end of ['COMMIT', 'ROLLBACK']) {
      await client.query('BEGIN')
      const { id } = await wakeful.set('in 1 hour', { target: 'x', tx: client })
      expect(await wakeful.get(id)).toBeNull()
      await client.query(end)
      expect((await wakeful.get(id))?.status).toBe(end === 'COMMIT' ? 'active' : undefined)
    }
  })

  test('a cancel that is rolled back has no effect', async () => {
    const { id } = await wakeful.set('in 1 hour', { target: 'x' })
    for (const [end, status] of [
      ['ROLLBACK', 'active'],
      ['COMMIT', 'cancelled'],
    ]) {
      await client.query('BEGIN')
      expect((await wakeful.cancel(id, { tx: client })).outcome).toBe('cancelled')
      await client.query(end!)
      expect((await wakeful.get(id))?.status).toBe(status)
    }
  })

  test('a rejected call leaves the transaction usable', async () => {
    await client.query('BEGIN')
    const kept = await wakeful.set('in 1 hour', { target: 'x', key: 'twice', tx: client })
    await expect(
      wakeful.setMany([{ when: 'in 1 hour', target: 'x', label: 'a'.repeat(9_999) }]),
    ).rejects.toThrow()
    const again = await wakeful.set('in 2 hours', { target: 'x', key: 'twice', tx: client })
    await client.query('COMMIT')
    expect(again.id).toBe(kept.id)
    expect((await wakeful.get(kept.id))?.status).toBe('active')
  })

  test('concurrent calls all take effect although one of them is rejected', async () => {
    const { id, updatedAt } = await wakeful.set('in 1 hour', { target: 'x' })
    await client.query('BEGIN')
    const stale = new Date(+updatedAt - 1)
    const [one, two, three] = await Promise.allSettled([
      wakeful.set('in 1 hour', { target: 'x', tx: client }),
      wakeful.cancel(id, { updatedAt: stale, tx: client }),
      wakeful.set('in 1 hour', { target: 'x', tx: client }),
    ])
    await client.query('COMMIT')
    expect(two.status).toBe('rejected')
    for (const set of [one, three])
      expect(set.status === 'fulfilled' && (await wakeful.get(set.value.id))?.status).toBe('active')
    expect((await wakeful.get(id))?.status).toBe('active')
  })

  test.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'in a %s transaction, cancels are rejected: it cannot see what is being delivered',
    async (level) => {
      const { id } = await wakeful.set('in 1 hour', { target: 'x' })
      await client.query(`BEGIN ISOLATION LEVEL ${level}`)
      const added = await wakeful.set('in 1 hour', { target: 'x', tx: client })
      await expect(wakeful.cancel(id, { tx: client })).rejects.toThrow(/READ COMMITTED/)
      await expect(wakeful.set('in 1 hour', { target: 'x', key: 'k', tx: client })).rejects.toThrow(
        /READ COMMITTED/,
      )
      await client.query('COMMIT')
      expect((await wakeful.get(id))?.status).toBe('active')
      expect((await wakeful.get(added.id))?.status).toBe('active')
    },
  )

  test('works with a client of the user’s pool', async () => {
    const own = await pool.connect()
    await own.query('BEGIN')
    const { id } = await wakeful.set('in 1 hour', { target: 'x', tx: own })
    await own.query('COMMIT')
    own.release()
    expect((await wakeful.get(id))?.status).toBe('active')
  })

  test('rejects what is not an open transaction, and says what would be', async () => {
    const refuse = (tx: unknown, message: RegExp) =>
      expect(wakeful.set('in 1 hour', { target: 'x', tx })).rejects.toMatchObject({
        code: 'invalid_request',
        message,
      })
    await refuse({}, /must be a pg client/)
    await refuse(pool, /check a client out/)
    await refuse(client, /begin one first/)
    await client.query('BEGIN')
    await client.query('SELECT 1/0').catch(() => {})
    await refuse(client, /roll it back/)
    await client.query('ROLLBACK')
    const elsewhere = new pg.Client({ connectionString: url.replace(/[^/]*$/, 'postgres') })
    await elsewhere.connect()
    await elsewhere.query('BEGIN')
    await refuse(elsewhere, /not on the database/)
    await elsewhere.end()
  })
})

describe('a transactional handler', () => {
  async function fired(
    name: string,
    handler: (fire: Fire) => unknown,
    options: object = {},
  ): Promise<string> {
    wakeful.handle(name, handler, { transactional: true })
    const { id } = await wakeful.set('now', { target: name, ...options })
    await wakeful.tick()
    return id
  }

  const effects = async () => {
    const { rows } = await client.query<{ occurrence: string }>('SELECT occurrence FROM effects ORDER BY 1')
    return rows.map(({ occurrence }) => occurrence)
  }
  const write = (fire: Fire) =>
    (fire.tx as pg.PoolClient).query('INSERT INTO effects VALUES ($1)', [fire.occurrence.id])

  test('writes what commits with its settle', async () => {
    const id = await fired('writes', write)
    expect((await wakeful.get(id))?.status).toBe('fired')
    expect((await effects()).filter((effect) => effect.startsWith(id))).toHaveLength(1)
  })

  test('leaves nothing behind when it fails, and is retried', async () => {
    let attempts = 0
    const id = await fired(
      'fails',
      async (fire) => {
        await write(fire)
        attempts += 1
        if (attempts < 2) throw new Error('not yet')
      },
      { backoff: { baseMs: 1_000 } },
    )
    expect((await effects()).filter((effect) => effect.startsWith(id))).toHaveLength(0)
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    await wakeful.tick()
    expect((await wakeful.get(id))?.status).toBe('fired')
    expect((await effects()).filter((effect) => effect.startsWith(id))).toHaveLength(1)
  })

  test('that sets another alarm in its transaction sets it with its settle', async () => {
    let next = ''
    await fired('chains', async (fire) => {
      next = (await wakeful.set('in 1 hour', { target: 'x', tx: fire.tx })).id
      expect(await wakeful.get(next)).toBeNull()
    })
    expect((await wakeful.get(next))?.status).toBe('active')
  })

  test('that ends its transaction itself fails, and its alarm does not count as fired', async () => {
    const id = await fired('meddles', (fire) => (fire.tx as pg.PoolClient).query('COMMIT'), {
      maxFailures: 1,
    })
    const alarm = await wakeful.get(id)
    expect(alarm?.status).toBe('failed')
    expect(alarm?.lastError).toMatch(/Wakeful commits it together with the result/)
  })
})
