import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../connection/index.ts'
import { backupTo } from './backup.ts'

let dir: string
let store: string
const at = (name: string) => join(dir, name)

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wakeful-backup-'))
  store = at('alarms.db')
  const db = connect(store)
  db.exec('CREATE TABLE kept (value TEXT); INSERT INTO kept VALUES (1)')
  db.close()
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function rowsOf(file: string): unknown[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db.prepare('SELECT value FROM kept').all()
  } finally {
    db.close()
  }
}

describe('a backup', () => {
  it('is a whole copy, and replaces a file only where that was asked for', async () => {
    await backupTo(store, at('copy.db'))
    expect(rowsOf(at('copy.db'))).toHaveLength(1)
    await expect(backupTo(store, at('copy.db'))).rejects.toMatchObject({ code: 'invalid_request' })
    const db = connect(store)
    db.exec('INSERT INTO kept VALUES (2)')
    // Reading the copy has left a -wal beside it that is nobody's: it must not be in the way.
    await backupTo(store, at('copy.db'), { replace: true })
    db.close()
    expect(rowsOf(at('copy.db'))).toHaveLength(2)
  })

  it('never overwrites the store itself, by whatever name', async () => {
    symlinkSync(store, at('link.db'))
    linkSync(store, at('hard.db'))
    symlinkSync(dir, at('elsewhere'))
    // The copy is written to NAME.unfinished first: that must not be the store either.
    const unfinished = at('late.db.unfinished')
    linkSync(store, unfinished)
    const names = [
      store,
      relative(process.cwd(), store),
      at('link.db'),
      at('hard.db'),
      at('elsewhere/alarms.db'),
      at('alarms.db-wal'),
      at('elsewhere/alarms.db-clock-app'),
      at('late.db'),
    ]
    for (const name of names) {
      const backup = backupTo(store, name, { replace: true })
      await expect(backup, name).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('is the store itself'),
      })
    }
    expect(rowsOf(store)).toHaveLength(1)
  })

  it('never overwrites another database that is in use', async () => {
    const other = connect(at('other.db'))
    other.exec('CREATE TABLE kept (value TEXT)')
    const backup = backupTo(store, at('other.db'), { replace: true })
    await expect(backup).rejects.toMatchObject({ code: 'invalid_request', message: /in use.*other\.db-wal/ })
    other.exec('INSERT INTO kept VALUES (1), (2)')
    other.close()
    expect(rowsOf(at('other.db'))).toHaveLength(2)
  })

  it('says that it is the target that is wrong, and leaves nothing behind', async () => {
    mkdirSync(at('folder'))
    const before = readdirSync(dir)
    await expect(backupTo(store, at('nowhere/x.db'))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/There is no folder .*nowhere for .*x\.db/),
    })
    await expect(backupTo(store, at('folder'), { replace: true })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('is a directory'),
    })
    expect(readdirSync(dir)).toEqual(before)
  })

  it('says that it is the source that is wrong', async () => {
    writeFileSync(at('notes.txt'), 'not a database '.repeat(100))
    await expect(backupTo(at('notes.txt'), at('x.db'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/^\S*notes\.txt: .*not a SQLite database/),
    })
    expect(readdirSync(dir)).not.toContain('x.db')
  })
})
