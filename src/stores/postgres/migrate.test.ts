import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testDatabase } from '../../../test/postgres/database.ts'
import { postgresSnapshot } from '../../../tools/postgres-schema-snapshot.ts'
import { open } from '../../index.ts'
import { MIGRATIONS as SQLITE } from '../sqlite/migrations/index.ts'
import { Database } from './database.ts'
import { migratePostgres, missingSql } from './index.ts'
import { migrate, migrationSql, schemaVersion } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { Dialect } from './session.ts'

const { url, client } = testDatabase()

async function withDatabase<T>(schema: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database({ url, schema })
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
    const all = Array.from({ length: 10 }, () =>
      withDatabase('ten', (database) => migrate(database, 0, { shards: 64 })),
    )
    const results = await Promise.all(all)
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1)
    await withDatabase('ten', async ({ session }) =>
      expect(await schemaVersion(session)).toBe(MIGRATIONS.length),
    )
  })

  it('can be printed, and run by hand, for those who may not create tables', async () => {
    const text = migrationSql(new Dialect('by_hand'), 0)
    expect(text).toContain('CREATE TABLE "by_hand".timers')
    expect(text).toMatch(/^BEGIN;\n[\s\S]*\nCOMMIT;\n$/)
    await client.query(text)
    expect(await missingSql(`${url}?schema=by_hand`)).toBe('')
    const wakeful = await open(`${url}?schema=by_hand`)
    expect((await wakeful.set('in 1 hour', { target: 'x' })).status).toBe('active')
    await wakeful.close()
  })

  it('undo themselves whole when one fails', async () => {
    const broken = [...MIGRATIONS, { number: 99, name: 'broken', sql: 'CREATE TABLE (;', breaking: true }]
    await withDatabase('broken', async (database) => {
      await expect(migrate(database, 0, { shards: 64 }, broken)).rejects.toThrow()
      expect(await schemaVersion(database.session)).toBe(0)
    })
  })

  it('fix the number of shards: who opens it later with another number gets the first', async () => {
    await withDatabase('fixed', (database) => migrate(database, 0, { shards: 5 }))
    const wakeful = await open(`${url}?schema=fixed`)
    await wakeful.set('in 1 hour', { target: 'x' })
    expect(await wakeful.ownership()).toHaveLength(5)
    await wakeful.close()
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
})

describe('a database that cannot be had', () => {
  const somewhere = new URL(url)

  it.each([
    ['no server listens', `postgres://postgres@127.0.0.1:1/x`, 'store_unavailable', /cannot be reached/],
    ['there is no such database', url.replace(/[^/]*$/, 'nowhere'), 'store_unavailable', /createdb/],
    ['the schema has a wild name', `${url}?schema=a%22b`, 'invalid_request', /lower-case/],
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
