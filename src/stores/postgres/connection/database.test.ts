import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testDatabase } from '../../../../test/postgres/database.ts'
import { Database } from './database.ts'
import { isBroken } from './errors.ts'

const { url, client } = testDatabase()
let database: Database
beforeAll(() => {
  database = new Database(pg, { url })
})
afterAll(() => database.close())

/** Cuts a connection, and waits until the server has let it go. */
async function cut(pid: number): Promise<void> {
  await client.query('SELECT pg_terminate_backend($1, 30000)', [pid])
}

it('fails a transaction whose connection is cut, and nothing else: not the process', async () => {
  const broken = database.transaction(async (session) => {
    const [pid] = (await session.row('SELECT pg_backend_pid()'))!
    await cut(pid as number)
    await session.row('SELECT 1')
  })
  expect(isBroken(await broken.catch((thrown: unknown) => thrown))).toBe(true)
  expect(await database.transaction((session) => session.row('SELECT 2'))).toEqual([2])
})

it('fails a handler’s transaction whose connection is cut while the handler does something else', async () => {
  const broken = database.handler(async (session) => {
    const [pid] = (await session.row('SELECT pg_backend_pid()'))!
    await cut(pid as number)
    // Nothing is asked of the connection when it breaks.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await session.row('SELECT 1')
  })
  expect(isBroken(await broken.catch((thrown: unknown) => thrown))).toBe(true)
  expect(await database.handler((session) => session.row('SELECT 2'))).toEqual([2])
})
