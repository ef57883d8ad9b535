import { expect, it } from 'vitest'
import { Metrics } from '../../src/server/index.ts'
import { startPostgres } from '../postgres/server.ts'
import { caller, serving } from './harness.ts'

it('tells a scraper that it knows that the database is down, and nobody else', async () => {
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
