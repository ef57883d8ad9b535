import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { WakefulError } from '../../error.ts'
import { openTest } from '../../testing/index.ts'
import type { Caller } from '../auth/index.ts'
import type { HeaderReader } from '../http/index.ts'
import { Metrics } from './metrics.ts'
import { MetricsAccess } from './metrics-access.ts'
import { addMonitoringRoutes, type MonitoringParts } from './monitoring-routes.ts'

const CALLERS: Readonly<Record<string, unknown>> = {
  local: { rights: 'admin', keyId: null, key: null },
  admin: { rights: 'admin', keyId: 'a', key: { tenant: 't' } },
  scraper: { rights: 'read', keyId: 's', key: { tenant: '*', expiresAt: null } },
  reader: { rights: 'read', keyId: 'r', key: { tenant: 't' } },
}

async function bench(metricsFor: MonitoringParts['metricsFor']) {
  const metrics = new Metrics({ version: '1', node: '1' })
  const { wakeful, clock, close } = await openTest({ observer: metrics.observer })
  const store: { fails: unknown } = { fails: null }
  const readings = () =>
    store.fails === 'hangs' ? new Promise<never>(() => {}) : wakeful.operator.readings()
  metrics.attach({ readings, clock })
  const app = new Hono()
  const inTenMinutes = new Date(clock.now() + 600_000)
  const brief = { rights: 'read', keyId: 'b', key: { tenant: '*', expiresAt: inTenMinutes } }
  const callers: typeof CALLERS = { ...CALLERS, brief }
  const admit = async (headers: HeaderReader) => {
    if (store.fails === 'hangs') await new Promise(() => {})
    if (store.fails !== null) throw store.fails
    const caller = callers[headers.get('authorization') ?? '']
    if (caller === undefined)
      throw WakefulError.from({ code: 'unauthorized', reason: 'test', params: {}, message: 'send a key' })
    return caller as Caller
  }
  const access = new MetricsAccess({ admit }, clock)
  addMonitoringRoutes(app, {
    metrics,
    metricsFor,
    readings,
    clock,
    timeoutMs: 2_000,
    lagMsMax: 60_000,
    isStopping: () => false,
    access,
  })
  const get = async (path: string, as?: string) =>
    app.request(path, as === undefined ? {} : { headers: { authorization: as } })
  return { get, wakeful, clock, access, store, [Symbol.asyncDispose]: close }
}

test('a running process is healthy, and ready once its clock runs', async () => {
  await using at = await bench('key')
  expect((await at.get('/healthz')).status).toBe(200)
  expect((await at.get('/readyz')).status).toBe(503)
  await at.wakeful.start()
  const ready = await at.get('/readyz')
  expect([ready.status, ready.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await ready.json()).toMatchObject({ status: 'ok', checks: { lag: { ok: true } } })
})

test('metrics need a key of all tenants', async () => {
  await using at = await bench('key')
  const statuses = await Promise.all(
    ['local', 'admin', 'scraper', 'reader', undefined].map(
      async (as) => (await at.get('/metrics', as)).status,
    ),
  )
  expect(statuses).toEqual([200, 403, 200, 403, 401])
  const page = await at.get('/metrics', 'scraper')
  expect(page.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  expect(await page.text()).toContain('wakeful_store_up 1')
  expect(await (await at.get('/metrics', 'reader')).json()).toMatchObject({
    code: 'forbidden',
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

test('only recently admitted scrapers may read the metrics while the store is down', async () => {
  await using at = await bench('key')
  const statuses = () =>
    Promise.all(
      ['local', 'scraper', 'brief', 'reader'].map(async (as) => (await at.get('/metrics', as)).status),
    )
  expect(await statuses()).toEqual([200, 200, 200, 403])
  at.store.fails = WakefulError.from({
    code: 'store_unavailable',
    reason: 'test',
    params: {},
    message: 'gone',
  })
  expect(await statuses()).toEqual([200, 200, 200, 503])
  await at.clock.advance('59m')
  // One's key has expired meanwhile.
  expect(await statuses()).toEqual([200, 200, 503, 503])
  at.access.forget('s')
  expect(await statuses()).toEqual([503, 503, 503, 503])
  at.store.fails = null
  expect(await statuses()).toEqual([200, 200, 200, 403])
  at.store.fails = WakefulError.from({ code: 'unauthorized', reason: 'test', params: {}, message: 'revoked' })
  expect(await statuses()).toEqual([401, 401, 401, 401])
  at.store.fails = WakefulError.from({
    code: 'store_unavailable',
    reason: 'test',
    params: {},
    message: 'gone',
  })
  expect(await statuses()).toEqual([503, 503, 503, 503])
})

test('a scraper is remembered for an hour, and is answered within a second while the store hangs', async () => {
  await using at = await bench('key')
  expect((await at.get('/metrics', 'scraper')).status).toBe(200)
  at.store.fails = 'hangs'
  // The reading of the last scrape is used for a second.
  await at.clock.advance('1s')
  const [known, other] = [at.get('/metrics', 'scraper'), at.get('/metrics', 'local')]
  await at.clock.advance('1s')
  expect([(await known).status, (await other).status]).toEqual([200, 503])
  expect(await (await known).text()).toContain('wakeful_store_up 0')
  await at.clock.advance('1h')
  at.store.fails = WakefulError.from({
    code: 'store_unavailable',
    reason: 'test',
    params: {},
    message: 'gone',
  })
  expect((await at.get('/metrics', 'scraper')).status).toBe(503)
})

test('metrics can be opened to anyone, or turned off', async () => {
  await using open = await bench('open')
  expect((await open.get('/metrics')).status).toBe(200)
  await using off = await bench('off')
  expect((await off.get('/metrics', 'admin')).status).toBe(404)
})
