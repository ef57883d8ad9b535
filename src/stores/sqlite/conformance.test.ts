import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { conformance, type OpenStore } from '../conformance/index.ts'
import { openSqlite } from './index.ts'

const inMemory: OpenStore = async (clock) => ({
  store: await openSqlite({ path: ':memory:', clock }),
  peer: 'a database in memory belongs to one process',
  transact: true,
})

const inFile: OpenStore = async (clock) => {
  const folder = await mkdtemp(join(tmpdir(), 'wakeful-'))
  const openOne = () => openSqlite({ path: join(folder, 'alarms.db'), clock })
  const dispose = () => rm(folder, { recursive: true })
  return { store: await openOne(), peer: openOne, transact: true, dispose }
}

describe.each([
  ['in memory', inMemory],
  ['in a file', inFile],
])('SQLite %s', (_, open) => {
  test.for(conformance)('$name', ({ run }, { skip }) => run(open, skip))
})
