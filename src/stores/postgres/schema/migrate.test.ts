import { readFileSync } from 'node:fs'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testDatabase } from '../../../../test/postgres/database.ts'
import { postgresSnapshot } from '../../../../tools/postgres-schema-snapshot.ts'
import { systemClock } from '../../../hosts/node/index.ts'
import { open } from '../../../index.ts'
import type { Migration } from '../../index.ts'
import { MIGRATIONS as SQLITE } from '../../sqlite/schema/index.ts'
import { Database, Dialect } from '../connection/index.ts'
import { examinePostgres, migratePostgres, missingSql, openPostgres } from '../index.ts'
import { migrate, migrationSql, schemaVersion } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'

const { url, client } = testDatabase()

async function withDatabase<T>(schema: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(pg, { url, schema })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

describe('migrations', () => {
  it('lead to the schema that is kept in git', async () => {
    const kept = readFileSync(new URL('schema.snap.sql', import.meta.url), 'utf8')
    await migratePostgres(`${url}?schema=kept`, 0)
    const now = await postgresSnapshot(client, 'kept')
    expect(now, 'run `npm run schema` and look at the difference').toBe(kept)
  })

  it('have the numbers and names of SQLite’s', () => {
    const names = (all: typeof MIGRATIONS) =>
      all.map(({ number, name, breaking }) => ({ number, name, breaking }))
    expect(names(MIGRATIONS)).toEqual(names(SQLITE))
  })

  it('may be run by ten processes at once', async () => {
    const all = Array.from({ length: 10 }, () => withDatabase('ten', (database) => migrate(database, 0, 64)))
    const results = await Promise.all(all)
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1)
    await withDatabase('ten', async ({ session }) =>
      expect(await schemaVersion(session)).toBe(MIGRATIONS.at(-1)!.number),
    )
  })

  it('can be printed, and run by hand by another role', async () => {
    const text = migrationSql(new Dialect('by_hand'), 0, false)
    expect(text).toContain('CREATE TABLE "by_hand".timers')
    expect(text).toMatch(/^BEGIN;\n[\s\S]*\nCOMMIT;\n$/)
    await client.query(text)
    expect(await missingSql(`${url}?schema=by_hand`)).toBe('')
    const wakeful = await open(`${url}?schema=by_hand`)
    expect((await wakeful.set('in 1 hour', { target: 'x' })).status).toBe('active')
    await wakeful.close()
  })

  it('can be printed for a schema that is there already, and note when they were run', async () => {
    await client.query('CREATE SCHEMA prepared')
    const text = await missingSql(`${url}?schema=prepared`)
    expect(text).not.toContain('CREATE SCHEMA')
    await client.query(text)
    const { rows } = await client.query(
      `SELECT DISTINCT applied_at > 1e12 AS is_new FROM prepared.migrations`,
    )
    expect(rows).toEqual([{ is_new: true }])
  })

  it.each([
    ['alarms', 'CREATE TABLE others.alarms (id int)'],
    ['migrations', 'CREATE TABLE others.migrations (version text)'],
  ])('refuse a schema with tables of another program: %s', async (_, table) => {
    await client.query(`CREATE SCHEMA others; ${table}`)
    onTestFinished(async () => void (await client.query('DROP SCHEMA others CASCADE')))
    await expect(open(`${url}?schema=others`)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: /tables that are not Wakeful’s: choose another by \?schema=/,
    })
  })

  it('roll back completely when one fails', async () => {
    const broken = [...MIGRATIONS, { number: 99, name: 'broken', sql: 'CREATE TABLE (;', breaking: true }]
    await withDatabase('broken', async (database) => {
      await expect(migrate(database, 0, 64, broken)).rejects.toThrow()
      expect(await schemaVersion(database.session)).toBe(0)
    })
  })

  it('fix the number of shards: a later open with another number gets the first', async () => {
    await withDatabase('fixed', (database) => migrate(database, 0, 5))
    const wakeful = await open(`${url}?schema=fixed`)
    await wakeful.set('in 1 hour', { target: 'x' })
    expect(await wakeful.ownership()).toHaveLength(5)
    await wakeful.close()
  })
})

describe('a store of an unreleased version', () => {
  it.each([1, 2, 3, 4])('with schema %i is refused, with the commit that can export it', async (version) => {
    const schema = `unreleased_${version}`
    await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.alarms (seq bigint);
      CREATE TABLE ${schema}.migrations (number bigint, name text, breaking boolean, applied_at bigint);
      INSERT INTO ${schema}.migrations VALUES (${version}, 'old', true, 0)`)
    const refusal = {
      code: 'store_unavailable',
      reason: 'store.unreleased_schema',
      params: expect.objectContaining({ version, min: 5, commit: '74b82111b6fe' }),
      message: /commit 74b82111b6fe .*npm run wakeful -- export .*wakeful import .* on a new store/,
    }
    await expect(open(`${url}?schema=${schema}`)).rejects.toMatchObject(refusal)
    await expect(missingSql(`${url}?schema=${schema}`)).rejects.toMatchObject(refusal)
    expect(await examinePostgres(`${url}?schema=${schema}`, systemClock)).toContainEqual(
      expect.objectContaining({
        name: 'schema',
        advice: expect.stringContaining('export it with commit 74b82111b6fe'),
      }),
    )
  })
})

describe('an old binary', () => {
  async function newer(schema: string, breaking: boolean): Promise<string> {
    await migratePostgres(`${url}?schema=${schema}`, 0)
    await client.query(`INSERT INTO ${schema}.migrations VALUES (99, 'tomorrow', $1, 0)`, [breaking])
    return `${url}?schema=${schema}`
  }

  it('refuses a newer schema that breaks it, saying so', async () => {
    await expect(open(await newer('breaks', true))).rejects.toMatchObject({
      code: 'schema_too_new',
      message: /99 \(tomorrow\)/,
    })
  })

  it('works with a newer schema that does not', async () => {
    const wakeful = await open(await newer('fits', false))
    await wakeful.set('in 1 hour', { target: 'x' })
    await wakeful.close()
  })

  /** What a migration may do while processes of the version before run: add, and nothing that they must fill in. */
  const NEXT: Migration = {
    number: 99,
    name: 'tomorrow',
    breaking: false,
    sql: [
      'alarms',
      'timers',
      'outcomes',
      'events',
      'tallies',
      'processes',
      'shards',
      'in_flight_batches',
      'meta',
      'calendars',
      'idempotency_keys',
    ]
      .map(
        (table) =>
          `ALTER TABLE wakeful.${table} ADD COLUMN extra text, ADD COLUMN filled bigint NOT NULL DEFAULT 0;`,
      )
      .join('\n')
      .concat(
        'CREATE TABLE wakeful.tomorrow (a bigint); CREATE INDEX timers_extra ON wakeful.timers (extra);',
      ),
  }

  it('goes on beside a newer one that migrates under it, in the middle of its work', async () => {
    const at = `${url}?schema=rolling`
    const wakeful = await open(at)
    const fired = new Set<string>()
    wakeful.handle('x', (fire) => void fired.add(fire.message))
    await wakeful.start()
    let set = 0
    const setSome = async () => {
      for (let i = 0; i < 30; i++) {
        set += 1
        await wakeful.set({ delay: '50ms' }, { target: 'x', message: `m${set}`, key: `k${set}` })
      }
    }
    await setSome()
    const [migrated] = await Promise.all([
      withDatabase('rolling', (database) => migrate(database, 0, 64, [...MIGRATIONS, NEXT])),
      setSome(),
    ])
    expect(migrated.applied).toEqual(['tomorrow'])
    await setSome()
    await expect.poll(() => fired.size, { timeout: 50_000 }).toBe(set)
    // Another of the old version joins, and everything that is seldom done is done too.
    const joined = await open(at)
    await joined.calendars.put('holidays', { dates: { '2030-12-25': 'Christmas' } })
    await joined.set({ cron: '0 9 * * *', exclude: 'holidays' }, { target: 'x', key: 'k1' })
    await joined.cancel((await joined.getByKey('k1'))!.id)
    expect(await joined.stats()).toMatchObject({ total: set })
    expect((await joined.list({ limit: 5 })).items).toHaveLength(5)
    const store = await openPostgres({ url: at, clock: systemClock })
    expect((await store.prune(Number.MAX_SAFE_INTEGER, 100)).alarms).toBeGreaterThan(0)
    await store.close()
    await joined.close()
    await wakeful.close()
  })
})

describe('a database that cannot be had', () => {
  const somewhere = new URL(url)

  it.each([
    ['no server listens', `postgres://postgres@127.0.0.1:1/x`, 'store_unavailable', /cannot be reached/],
    ['there is no such database', url.replace(/[^/]*$/, 'nowhere'), 'store_unavailable', /createdb/],
    ['the schema has a wild name', `${url}?schema=a%22b`, 'invalid_request', /lower-case/],
    ['it has no TLS', `${url}?sslmode=require`, 'store_unavailable', /requires TLS.*sslmode=disable/],
    ['the URL is none', 'postgres://[', 'invalid_request', /postgres:\/\/user/],
  ])('is told apart: %s', async (_, at, code, message) => {
    await expect(open(at)).rejects.toMatchObject({ code, message })
  })

  it('is named without its password', async () => {
    somewhere.password = 'secret'
    somewhere.port = '1'
    const failure = await open(somewhere.href).catch((thrown: unknown) => thrown as Error)
    expect(String((failure as Error).message)).not.toContain('secret')
  })
})
