import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../../../tools/schema-snapshot.ts'
import { open } from '../../../index.ts'
import { connect } from '../connection/index.ts'
import { migrate, migrationSql, schemaVersion } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-migrate-'))
afterAll(() => rmSync(dir, { recursive: true }))

const here = new URL('.', import.meta.url)
const fixtures = readdirSync(new URL('fixtures/', here)).sort()

describe('migrations', () => {
  it('lead to the schema that is kept in git', async () => {
    const kept = readFileSync(new URL('schema.snap.sql', here), 'utf8')
    expect(await schemaSnapshot(), 'run `npm run schema` and look at the difference').toBe(kept)
  })

  it('are numbered without gaps, each with a fixture of its schema', () => {
    expect(MIGRATIONS.map((each) => each.number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    expect(fixtures).toEqual(MIGRATIONS.map((each) => `${String(each.number).padStart(4, '0')}.sql`))
  })

  it('may be run by ten connections at once', async () => {
    const path = join(dir, 'ten.db')
    const dbs = Array.from({ length: 10 }, () => connect(path))
    const results = await Promise.all(dbs.map((db) => migrate(db, path, 0)))
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1)
    expect(dbs.map(schemaVersion)).toEqual(Array(10).fill(MIGRATIONS.length))
    for (const db of dbs) db.close()
  })

  it('can be printed for those who run them by hand', () => {
    expect(migrationSql(0)).toContain('CREATE TABLE wakeful_timers')
    expect(migrationSql(MIGRATIONS.length)).toBe('')
  })

  it('undo themselves whole when one fails', async () => {
    const db = new DatabaseSync(':memory:')
    const broken = [
      ...MIGRATIONS,
      { number: 99, name: 'broken', sql: 'CREATE TABLE oops (;', breaking: true },
    ]
    await expect(migrate(db, ':memory:', 0, broken)).rejects.toThrow()
    expect(schemaVersion(db)).toBe(0)
  })
})

describe('an old binary', () => {
  async function newerDatabase(breaking: boolean): Promise<string> {
    const path = join(dir, `newer-${breaking}.db`)
    const db = connect(path)
    await migrate(db, path, 0)
    db.prepare('INSERT INTO wakeful_migrations VALUES (99, ?, ?, 0)').run('tomorrow', breaking ? 1 : 0)
    db.close()
    return path
  }

  it('refuses a newer schema that breaks it, saying so', async () => {
    const path = await newerDatabase(true)
    await expect(open(`sqlite:${path}`)).rejects.toMatchObject({
      code: 'schema_too_new',
      message: /99 \(tomorrow\)/,
    })
  })

  it('works with a newer schema that does not', async () => {
    const wakeful = await open(`sqlite:${await newerDatabase(false)}`)
    await wakeful.set('in 1 hour', { target: 'x' })
    await wakeful.close()
  })
})

describe('a database of every earlier schema', () => {
  for (const fixture of fixtures) {
    it(`${fixture} opens with its data whole, and fires`, async () => {
      const path = join(dir, `${fixture}.db`)
      const old = new DatabaseSync(path)
      old.exec(readFileSync(new URL(`fixtures/${fixture}`, here), 'utf8'))
      old.close()
      const wakeful = await open(`sqlite:${path}`)
      const statuses = await Promise.all(
        ['once', 'cron', 'every', 'paused', 'gone', 'fired', 'failed', 'retrying', 'awaiting'].map(
          async (key) => (await wakeful.getByKey(key))?.status,
        ),
      )
      expect(statuses).toEqual([
        'active',
        'active',
        'active',
        'paused',
        'cancelled',
        'fired',
        'failed',
        'active',
        'fired',
      ])
      expect((await wakeful.getByKey('once'))?.payload).toEqual({ a: 1 })
      // From 0002 on also one that excludes a calendar, and one given as a wall time.
      const more = fixture >= '0002.sql' ? 2 : 0
      expect((await wakeful.getByKey('holidays'))?.rule).toEqual(
        more === 0 ? undefined : expect.objectContaining({ exclude: { calendars: ['holidays'] } }),
      )
      // From 0004 on with the trace it was set in.
      expect((await wakeful.getByKey('once'))?.traceparent).toBe(
        fixture >= '0004.sql' ? '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' : null,
      )
      expect(await wakeful.stats()).toMatchObject({
        total: 9 + more,
        pending: 5 + more,
        fired: 1,
        completed: 1,
        failed: 1,
        cancelled: 1,
      })
      const fired: string[] = []
      wakeful.handle('remind', (fire) => void fired.push(fire.alarm.key ?? ''))
      await wakeful.tick()
      expect(fired).toContain('retrying')
      await wakeful.close()
    })
  }
})

describe('a file that is no database', () => {
  it('is refused with what to do', async () => {
    const path = join(dir, 'notes.txt')
    writeFileSync(path, 'these are my notes, and they are long enough to be no database at all '.repeat(20))
    await expect(open(`sqlite:${path}`)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: /not a SQLite database/,
    })
  })

  it('is told apart from a folder that is not there', async () => {
    const missing = open(`sqlite:${join(dir, 'nowhere', 'a.db')}`)
    await expect(missing).rejects.toMatchObject({ code: 'store_unavailable', message: /cannot be opened/ })
  })
})
