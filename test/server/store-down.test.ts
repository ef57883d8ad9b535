import { Client } from 'pg'
import { expect, it } from 'vitest'
import { Metrics } from '../../src/server/index.ts'
import { startPostgres } from '../postgres/server.ts'
import { caller, serving } from './harness.ts'

it('lets only a known scraper read the metrics while the database is down', async () => {
  const postgres = await startPostgres()
  try {
    const metrics = new Metrics({ version: '1', node: '1' })
    const at = await serving({ store: postgres.url(), server: { metrics } })
    const { readings, clock } = at.wakeful.operator
    metrics.attach({ readings, clock })
    const keyOf = async (by: typeof at.call, rights: string) =>
      (await by('POST', '/v1/keys', { tenant: '*', rights })).json
    const admin = caller(at.url, { authorization: `Bearer ${(await keyOf(at.call, 'admin')).key}` })
    const [known, revoked, unseen] = [
      await keyOf(admin, 'read'),
      await keyOf(admin, 'read'),
      await keyOf(admin, 'read'),
    ]
    const scrape = (key: string) => caller(at.url, { authorization: `Bearer ${key}` })('GET', '/metrics')
    expect((await scrape(known.key)).text).toContain('wakeful_store_up 1')
    expect((await scrape(revoked.key)).status).toBe(200)
    expect((await admin('DELETE', `/v1/keys/${revoked.id}`)).status).toBeLessThan(300)
    await postgres.die()
    await new Promise((wake) => setTimeout(wake, 1_100))
    const down = await scrape(known.key)
    expect([down.status, /^wakeful_store_up (\d)$/m.exec(down.text)?.[1]]).toEqual([200, '0'])
    for (const { key } of [revoked, unseen]) expect((await scrape(key)).status).toBe(503)
    await at.close().catch(() => {})
  } finally {
    await postgres.stop()
  }
}, 120_000)

it('answers a scrape while the database is frozen', async () => {
  const postgres = await startPostgres()
  try {
    const metrics = new Metrics({ version: '1', node: '1' })
    const at = await serving({ store: postgres.url(), server: { metrics } })
    const { readings, clock } = at.wakeful.operator
    metrics.attach({ readings, clock })
    await at.wakeful.start()
    const scrape = async () => {
      const { status, text } = await at.call('GET', '/metrics')
      return [status, /^wakeful_store_up (\d)$/m.exec(text)?.[1]]
    }
    await expect.poll(scrape).toEqual([200, '1'])
    const thaw = postgres.freeze()
    try {
      // Nothing that waits for the database returns.
      for (let round = 0; round < 5; round++) {
        await new Promise((wake) => setTimeout(wake, 1_100))
        expect(await scrape()).toEqual([200, '0'])
      }
      expect((await at.call('GET', '/readyz')).status).toBe(503)
    } finally {
      thaw()
    }
    await expect.poll(scrape, { timeout: 60_000 }).toEqual([200, '1'])
    await at.close()
  } finally {
    await postgres.stop()
  }
}, 120_000)

it('is not ready while the database is read-only, and is ready afterwards', async () => {
  const postgres = await startPostgres()
  const client = new Client({ connectionString: postgres.url() })
  try {
    await client.connect()
    const metrics = new Metrics({ version: '1', node: '1' })
    const at = await serving({ store: postgres.url(), server: { metrics, metricsFor: 'open' } })
    const { readings, clock } = at.wakeful.operator
    metrics.attach({ readings, clock })
    await at.wakeful.start()
    const look = async () => {
      const { status, json } = await at.call('GET', '/readyz')
      const up = /^wakeful_store_up (\d)$/m.exec((await at.call('GET', '/metrics')).text)?.[1]
      return { status, up, store: json.checks.store.detail as string, shards: json.checks.shards.detail }
    }
    const readOnly = async (to: 'on' | 'off') => {
      await client.query('SET default_transaction_read_only = off')
      await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${to}`)
      await client.query('SELECT pg_reload_conf()')
    }
    const eventually = { timeout: 30_000, interval: 200 }
    await expect.poll(look, eventually).toMatchObject({ status: 200, up: '1' })
    await readOnly('on')
    await expect.poll(look, eventually).toMatchObject({
      status: 503,
      up: '0',
      store: expect.stringMatching(
        /^answered in \d+ ms, but does not accept writes: it is read-only, or a standby$/,
      ),
      shards: '0 run here, 0 in other processes, 128 in none',
    })
    await readOnly('off')
    await expect.poll(look, eventually).toMatchObject({
      status: 200,
      up: '1',
      shards: '128 run here, 0 in other processes, 0 in none',
    })
    await at.close()
  } finally {
    await client.end()
    await postgres.stop()
  }
}, 120_000)
