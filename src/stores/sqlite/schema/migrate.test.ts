import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../../../tools/schema-snapshot.ts'
import { open } from '../../../index.ts'
import { connect } from '../connection/index.ts'
import { examine } from '../maintenance/index.ts'
import { migrate, migrationSql, schemaVersion } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-migrate-'))
afterAll(() => rmSync(dir, { recursive: true }))

describe('migrations', () => {
  it('lead to the schema that is kept in git', async () => {
    const kept = readFileSync(new URL('schema.snap.sql', import.meta.url), 'utf8')
    expect(await schemaSnapshot(), 'run `npm run schema` and look at the difference').toBe(kept)
  })

  it('are numbered without gaps, from 5 on', () => {
    expect(MIGRATIONS.map((each) => each.number)).toEqual(MIGRATIONS.map((_, index) => index + 5))
  })

  it('may be run by ten connections at once', async () => {
    const path = join(dir, 'ten.db')
    const dbs = Array.from({ length: 10 }, () => connect(path))
    const results = await Promise.all(dbs.map((db) => migrate(db, path, 0)))
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1)
    expect(dbs.map(schemaVersion)).toEqual(Array(10).fill(MIGRATIONS.at(-1)!.number))
    for (const db of dbs) db.close()
  })

  it('can be printed for those who run them by hand', () => {
    expect(migrationSql('a.db', 0)).toContain('CREATE TABLE wakeful_timers')
    expect(migrationSql('a.db', MIGRATIONS.at(-1)!.number)).toBe('')
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

describe('a store of an unreleased version', () => {
  it.each([1, 2, 3, 4])('with schema %i is refused, with the commit that can export it', async (version) => {
    const path = join(dir, `unreleased-${version}.db`)
    const old = connect(path)
    old.exec(`CREATE TABLE wakeful_migrations (number INTEGER, name TEXT, breaking INTEGER, applied_at INTEGER);
      CREATE TABLE wakeful_alarms (seq INTEGER PRIMARY KEY);
      INSERT INTO wakeful_migrations VALUES (${version}, 'old', 1, 0)`)
    old.close()
    const refusal = {
      code: 'store_unavailable',
      reason: 'store.unreleased_schema',
      params: expect.objectContaining({ version, min: 5, commit: '74b82111b6fe' }),
      message: /commit 74b82111b6fe .*npm run wakeful -- export .*wakeful import .* on a new store/,
    }
    await expect(open(`sqlite:${path}`)).rejects.toMatchObject(refusal)
    expect(() => migrationSql(path, version)).toThrow(refusal.message)
    const advice = expect.stringContaining('export it with commit 74b82111b6fe')
    expect(examine(path, 0)).toEqual([expect.objectContaining({ name: 'schema', ok: false, advice })])
  })
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
