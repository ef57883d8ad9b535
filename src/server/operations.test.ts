import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { WakefulError } from '../error.ts'
import { openTest } from '../testing/index.ts'
import type { Caller } from './caller.ts'
import { Metrics } from './metrics/index.ts'
import { addOperations, type OperationsParts } from './operations.ts'

const CALLERS: Readonly<Record<string, unknown>> = {
  local: { rights: 'admin', key: null },
  admin: { rights: 'admin', key: { tenant: 't' } },
  scraper: { rights: 'read', key: { tenant: '*' } },
  reader: { rights: 'read', key: { tenant: 't' } },
}

async function bench(metricsFor: OperationsParts['metricsFor']) {
  const metrics = new Metrics({ version: '1', node: '1' })
  const { wakeful, clock, close } = await openTest({ observer: metrics.observer })
  const { readings } = wakeful.operator
  metrics.attach({ readings, clock })
  const app = new Hono()
  addOperations(app, {
    metrics,
    metricsFor,
    readiness: { readings, clock, timeoutMs: 2_000, lagMsMax: 60_000, isStopping: () => false },
    newRequestId: () => 'made',
    door: {
      admit(headers) {
        const caller = CALLERS[headers.get('authorization') ?? '']
        if (caller === undefined) throw new WakefulError('unauthorized', 'send a key')
        return caller as Caller
      },
    },
  })
  const get = async (path: string, as?: string) =>
    app.request(path, as === undefined ? {} : { headers: { authorization: as } })
  return { get, wakeful, clock, [Symbol.asyncDispose]: close }
}

test('a process that lives says so, and is ready once its clock runs', async () => {
  await using at = await bench('key')
  expect((await at.get('/healthz')).status).toBe(200)
  expect((await at.get('/readyz')).status).toBe(503)
  await at.wakeful.start()
  const ready = await at.get('/readyz')
  expect([ready.status, ready.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await ready.json()).toMatchObject({ status: 'ok', checks: { lag: { ok: true } } })
})

test('metrics are for admins and for those who may see all tenants', async () => {
  await using at = await bench('key')
  const statuses = await Promise.all(
    ['local', 'admin', 'scraper', 'reader', undefined].map(
      async (as) => (await at.get('/metrics', as)).status,
    ),
  )
  expect(statuses).toEqual([200, 200, 200, 403, 401])
  const page = await at.get('/metrics', 'scraper')
  expect(page.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  expect(await page.text()).toContain('wakeful_store_up 1')
  expect(await (await at.get('/metrics', 'reader')).json()).toMatchObject({
    code: 'forbidden',
    request_id: 'made',
  })
})

test('metrics are open to anyone, or not there, where the operator says so', async () => {
  await using open = await bench('open')
  expect((await open.get('/metrics')).status).toBe(200)
  await using off = await bench('off')
  expect((await off.get('/metrics', 'admin')).status).toBe(404)
})
