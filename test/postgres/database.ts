import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'

/** A database for one test file, and a connection to inspect it. */
export interface TestDatabase {
  readonly url: string
  readonly client: pg.Client
}

/** Creates a database that is dropped with the test file. Call it at the top of the file. */
export function testDatabase(): TestDatabase {
  const server = inject('postgres')
  const name = `t_${randomUUID().replaceAll('-', '')}`
  const url = `${server}${name}`
  const client = new pg.Client({ connectionString: url })
  const onServer = async (sql: string) => {
    const admin = new pg.Client({ connectionString: `${server}postgres` })
    await admin.connect()
    await admin.query(sql)
    await admin.end()
  }
  beforeAll(async () => {
    await onServer(`CREATE DATABASE ${name}`)
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await onServer(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  return { url, client }
}
