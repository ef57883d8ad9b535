import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { Wire } from '../chaos/postgres/wire.ts'
import { openSink } from '../e2e/sink.ts'
import { testDatabase } from '../postgres/database.ts'
import { serve } from './cli-process.ts'
import { caller, type Serving, serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { until } from './ws-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-lifetimes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const database = testDatabase()
/** No other test has given it a secret. */
const untouched = testDatabase()
const EVENT = { event: true }
const REVOKED_MS_MAX = 1_000

it('ends a long poll when its key is revoked, and delivers nothing more', async () => {
  const server = await serving()
  await server.wakeful.start()
  const { keys } = keysOf(server.wakeful)
  const key = await keys('acme', 'ann', 'write')
  const other = await keys('acme', 'ann', 'write')
  const waiting = caller(server.url, { authorization: `Bearer ${key.key}` })('GET', '/v1/inbox?wait=30s')
  const ann = caller(server.url, { authorization: `Bearer ${other.key}` })
  await new Promise((resolve) => setTimeout(resolve, 200))
  await key.revoke()
  const answer = await waiting
  expect([answer.status, answer.json.code]).toEqual([401, 'unauthorized'])
  await ann('POST', '/v1/alarms', { delay: '0s', target: 'inbox' })
  expect((await ann('GET', '/v1/inbox?wait=20s')).json.items).toHaveLength(1)
})

it('rejects a revoked key within a second, also at another server, and ends its connections', async () => {
  const [a, b] = [await serving({ store: database.url }), await serving({ store: database.url })]
  const { keys } = keysOf(a.wakeful)
  for (let round = 0; round < 3; round++) {
    const key = await keys('acme', `o${round}`, 'write')
    const at = (server: Serving) => caller(server.url, { authorization: `Bearer ${key.key}` })
    let [revokedAt, isOver] = [Infinity, false]
    const late: number[] = []
    const busy = [a, b].map(async (server) => {
      while (!isOver) {
        const startedAt = performance.now()
        const { status } = await at(server)('POST', '/v1/alarms', { delay: '1h', target: EVENT })
        expect([201, 401]).toContain(status)
        if (status === 201 && startedAt > revokedAt) late.push(startedAt - revokedAt)
      }
    })
    await until(async () => (await at(b)('GET', '/v1/stats')).json.total > 5)
    await key.revoke()
    revokedAt = performance.now()
    await until(
      async () =>
        (await at(a)('GET', '/v1/stats')).status === 401 && (await at(b)('GET', '/v1/stats')).status === 401,
    )
    isOver = true
    await Promise.all(busy)
    expect(Math.max(0, ...late)).toBeLessThan(REVOKED_MS_MAX)
  }
})

it('applies quotas, pauses, default targets and inboxes on every server of one PostgreSQL', {
  timeout: 120_000,
}, async () => {
  const [a, b] = [await serving({ store: database.url }), await serving({ store: database.url })]
  await Promise.all([a.wakeful.start(), b.wakeful.start()])
  const operator = (await keysOf(a.wakeful).keys('*', null, 'admin')).key
  const at = (server: Serving, tenant: string, owner = 'ann') =>
    caller(server.url, {
      authorization: `Bearer ${operator}`,
      'wakeful-tenant': tenant,
      'wakeful-owner': owner,
    })

  await at(a, 'x')('PUT', '/v1/tenants/quoted', { quotas: { active_alarms: 4 } })
  const sets: number[] = []
  await until(async () => (await at(b, 'x')('GET', '/v1/tenants/quoted')).json.quotas.active_alarms === 4)
  for (let n = 0; n < 8; n++)
    sets.push(
      (await at(n % 2 === 0 ? a : b, 'quoted')('POST', '/v1/alarms', { delay: '1h', target: EVENT })).status,
    )
  // Each server counts its own sets at once, and those of the other within a second.
  expect(sets.filter((status) => status === 201).length).toBeLessThanOrEqual(8)
  await until(
    async () => (await at(a, 'quoted')('POST', '/v1/alarms', { delay: '1h', target: EVENT })).status === 429,
  )
  await until(
    async () => (await at(b, 'quoted')('POST', '/v1/alarms', { delay: '1h', target: EVENT })).status === 429,
  )

  expect((await at(a, 'paused')('PUT', '/v1/owner/target', { target: 'inbox' })).status).toBe(200)
  await until(async () => (await at(b, 'paused')('GET', '/v1/owner/target')).status === 200)
  await at(a, 'x')('POST', '/v1/tenants/paused/pause')
  await until(async () => (await at(b, 'x')('GET', '/v1/tenants/paused')).json.paused === true)
  const set = await at(b, 'paused')('POST', '/v1/alarms', { delay: '0s' })
  expect([set.status, set.json.target]).toEqual([201, 'default'])
  expect((await at(a, 'paused')('GET', '/v1/inbox?wait=3s')).json.items).toEqual([])
  await at(b, 'x')('POST', '/v1/tenants/paused/resume')
  const [wake] = (await at(a, 'paused')('GET', '/v1/inbox?wait=30s')).json.items
  expect(wake.alarm_id).toBe(set.json.id)
  expect((await at(b, 'paused')('GET', '/v1/inbox')).json.items).toEqual([])
  expect((await at(b, 'paused')('POST', `/v1/inbox/${wake.occurrence_id}/ack`)).status).toBe(200)
  expect((await at(a, 'paused')('POST', `/v1/inbox/${wake.occurrence_id}/ack`)).status).toBe(404)
})

it('answers while deliveries settle after SIGTERM: not ready at /readyz, and reports come in', {
  timeout: 120_000,
}, async () => {
  const home = mkdtempSync(join(folder, 'answers'))
  const release = Promise.withResolvers<void>()
  const sink = await openSink(() => ({ status: 202, after: release.promise }))
  const server = await serve(['--json', '--allow-private-targets'], { WAKEFUL_DB: 'sqlite:a.db' }, home)
  const call = caller(server.url)
  await until(async () => (await call('GET', '/readyz')).status === 200)
  const target = { webhook: sink.url }
  const { id } = (await call('POST', '/v1/alarms', { delay: '0s', target, ack: 'report' })).json
  await sink.received(1)
  server.child.kill('SIGTERM')
  await until(async () => {
    // A new connection, like the probe of a proxy.
    const ready = await call('GET', '/readyz', undefined, { connection: 'close' })
    return ready.status === 503 && ready.json.checks.process.ok === false
  })
  const report = await call('POST', `/v1/alarms/${id}/complete`, { result: 'done' }, { connection: 'close' })
  expect([report.status, server.child.exitCode]).toEqual([200, null])
  release.resolve()
  expect(await server.ended).toBe(0)
  await expect(call('GET', '/readyz')).rejects.toThrow()
  const wakeful = await open(`sqlite:${join(home, 'a.db')}`)
  try {
    expect(await wakeful.get(id)).toMatchObject({ status: 'completed', result: 'done' })
  } finally {
    await wakeful.close()
  }
})

it('stops on SIGTERM under load: answered sets are stored, running requests end, exit 0', {
  timeout: 120_000,
}, async () => {
  const home = mkdtempSync(join(folder, 'drain'))
  const env = { WAKEFUL_DB: 'sqlite:a.db' }
  const server = await serve(['--json', '--drain', '60s'], env, home)
  const call = caller(server.url)
  const [answered, refused]: [string[], unknown[]] = [[], []]
  let isOver = false
  const load = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      try {
        const { status, json } = await call('POST', '/v1/alarms', { delay: '1h', target: EVENT })
        if (status === 201) answered.push(json.id)
        else refused.push(status)
      } catch (thrown) {
        refused.push(thrown)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  })
  const polling = call('GET', '/v1/inbox?wait=60s').catch(() => null)
  await until(() => answered.length > 500)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  isOver = true
  await Promise.all(load)
  // The long poll is answered, and does not delay the stop until the limit.
  expect(await polling).toMatchObject({ status: 200, json: { items: [] } })
  expect(refused.length).toBeGreaterThan(0)
  const wakeful = await open(`sqlite:${join(home, 'a.db')}`)
  try {
    const missing: string[] = []
    for (const id of answered) if ((await wakeful.get(id)) === null) missing.push(id)
    expect(missing).toEqual([])
  } finally {
    await wakeful.close()
  }
})

it('stops within the drain and five seconds, even if the store does not answer', {
  timeout: 120_000,
}, async () => {
  const address = new URL(untouched.url)
  const wire = await Wire.start(Number(address.port))
  address.port = String(wire.port)
  const server = await serve(['--drain', '1s'], { WAKEFUL_DB: address.href }, folder)
  try {
    await until(async () => (await fetch(`${server.url}/readyz`)).ok)
    wire.sever()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(1)
    expect(server.output()).toContain('the store did not answer in time')
  } finally {
    wire.close()
  }
})
