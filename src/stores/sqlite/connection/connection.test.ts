import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { connect } from './connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-connection-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The files of a database while it is written to, with their rights. */
function rightsOf(name: string): string[] {
  const path = join(folder, name)
  const db = connect(path)
  try {
    db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)')
    return readdirSync(folder)
      .filter((each) => each.startsWith(name))
      .map((each) => `${each} ${(statSync(join(folder, each)).mode & 0o777).toString(8)}`)
  } finally {
    db.close()
  }
}

test('a new file is its owner’s alone, and so are those beside it', () => {
  expect(rightsOf('new.db')).toEqual(['new.db 600', 'new.db-shm 600', 'new.db-wal 600'])
})

test('a file that is there keeps the rights it has', () => {
  const path = join(folder, 'shared.db')
  writeFileSync(path, '')
  chmodSync(path, 0o664)
  expect(rightsOf('shared.db')).toEqual(['shared.db 664', 'shared.db-shm 664', 'shared.db-wal 664'])
})
