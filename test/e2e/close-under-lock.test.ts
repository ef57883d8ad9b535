import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { newPath } from './actors.ts'

test('a close that cannot write fails, and still releases the lease', async () => {
  const path = newPath()
  const first = await open(path)
  await first.start()
  const db = new DatabaseSync(path)
  db.exec('BEGIN IMMEDIATE')
  await expect(first.close()).rejects.toMatchObject({ code: 'store_unavailable' })
  db.exec('ROLLBACK')
  db.close()
  const second = await open(path)
  await second.start()
  expect(second.isOwner).toBe(true)
  await second.close()
}, 30_000)
