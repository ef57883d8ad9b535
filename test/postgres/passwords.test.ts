import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { open } from '../../src/index.ts'
import { entrust, ownFolder } from './programs.ts'
import { type PostgresServer, startPostgres } from './server.ts'

const folder = ownFolder('passwords')
let server: PostgresServer
let at: URL

beforeAll(async () => {
  const rules = join(folder, 'hba')
  writeFileSync(rules, 'host all postgres all trust\nhost all all all scram-sha-256\n')
  entrust(rules)
  server = await startPostgres([`hba_file=${rules}`])
  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  await client.query(`CREATE ROLE app LOGIN PASSWORD 'p/w@1'; CREATE SCHEMA wakeful AUTHORIZATION app`)
  await client.end()
  at = new URL(server.url())
  at.username = 'app'
}, 120_000)

afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

it('explains how to pass a password if the server requires one', async () => {
  await expect(open(at.href)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: /wants a password; put it into the URL .* or into PGPASSWORD/,
  })
  at.password = 'wrong'
  await expect(open(at.href)).rejects.toMatchObject({ message: /refuses the user or its password/ })
})

it('reads it from the URL, percent-encoded, and from PGPASSWORD', async () => {
  at.password = 'p%2Fw%401'
  await (await open(at.href)).close()
  at.password = ''
  vi.stubEnv('PGPASSWORD', 'p/w@1')
  await (await open(at.href)).close()
})
