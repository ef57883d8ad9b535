import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/hosts/node/index.ts'
import { open } from '../../src/index.ts'
import { examinePostgres, migratePostgres, openPostgres } from '../../src/stores/postgres/index.ts'
import { testDatabase } from './database.ts'

/** A role of the server, which all test files share. */
const ROLE = `app_${randomUUID().replaceAll('-', '')}`
const { url, client } = testDatabase()

const as = (() => {
  const address = new URL(url)
  address.username = ROLE
  return address.href
})()

/** What the guide says to grant: if the page and the code part, this test tells. */
function grantsOfGuide(): string {
  const page = readFileSync('docs/guides/postgres.md', 'utf8')
  const blocks = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, block]) => block!)
  return blocks.find((block) => block.startsWith('GRANT'))!.replaceAll(/\bapp\b/g, ROLE)
}

beforeAll(async () => {
  await client.query(`CREATE ROLE ${ROLE} LOGIN`)
  await migratePostgres(url, 0)
  await client.query(grantsOfGuide())
})
afterAll(async () => {
  await client.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`)
})

describe('a role that owns nothing and has what the guide grants', () => {
  it('can do everything, once somebody else has migrated', async () => {
    const wakeful = await open(as)
    const fired: string[] = []
    wakeful.handle('x', (fire) => void fired.push(fire.message))
    wakeful.handle('in-tx', (fire) => void fired.push(fire.message), { transactional: true })
    await wakeful.start()
    await wakeful.calendars.put('holidays', { dates: { '2030-12-25': 'Christmas' } })
    await wakeful.set({ cron: '0 9 * * *', exclude: 'holidays' }, { target: 'x', key: 'daily' })
    await wakeful.set('in 1 hour', { target: 'x', key: 'later', idempotencyKey: 'i' })
    await wakeful.set('in 2 hours', { target: 'x', key: 'later', idempotencyKey: 'j' })
    await wakeful.set({ delay: '10ms' }, { target: 'x', message: 'one' })
    await wakeful.set({ delay: '10ms' }, { target: 'in-tx', message: 'two' })
    await wakeful.set({ delay: '10ms' }, { target: { event: true } })
    await expect.poll(() => fired.toSorted(), { timeout: 30_000 }).toEqual(['one', 'two'])
    const types = await Array.fromAsync(wakeful.events(), ({ type }) => type)
    expect(types).toContain('alarm.fired')
    await wakeful.cancel((await wakeful.getByKey('later'))!.id)
    await wakeful.cancel((await wakeful.getByKey('daily'))!.id)
    expect(await wakeful.calendars.remove('holidays')).toBe(true)
    await wakeful.close()
  })

  it('can set in a transaction of its own', async () => {
    const wakeful = await open(as)
    const own = new pg.Client({ connectionString: as })
    await own.connect()
    await own.query('BEGIN')
    const { id } = await wakeful.set('in 1 hour', { target: 'x', tx: own })
    await own.query('COMMIT')
    expect(await wakeful.get(id)).not.toBeNull()
    await own.end()
    await wakeful.close()
  })

  it('can prune what has ended', async () => {
    const store = await openPostgres({ url: as, clock: systemClock })
    expect(await store.prune(Number.MAX_SAFE_INTEGER, 100)).toBeGreaterThan(0)
    await store.close()
  })

  it('passes doctor’s look at its rights', async () => {
    const checks = await examinePostgres(as, systemClock)
    expect(checks.find(({ name }) => name === 'rights')).toMatchObject({ ok: true })
  })

  it('is told who must migrate where the schema is not there', async () => {
    await expect(open(`${as}?schema=elsewhere`)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: /migrate as its owner/,
    })
  })
})
