import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { caller, serving } from './harness.ts'

const server = await serving({ open: { allowPrivateTargets: true } })
await server.wakeful.start()
const as = (tenant: string, owner = '') =>
  caller(server.url, { 'wakeful-tenant': tenant, 'wakeful-owner': owner })

/** What a local receiver got, when, and how many calls were open at the same time. */
const received: { id: string; tenant: string; at: number }[] = []
let [active, most, responseMs] = [0, 0, 0]
const sink = createServer((request, response) => {
  active += 1
  most = Math.max(most, active)
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const { occurrence_id, label } = JSON.parse(body)
    received.push({ id: occurrence_id, tenant: label, at: performance.now() })
    setTimeout(() => {
      active -= 1
      response.end()
    }, responseMs)
  })
})
await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
afterAll(() => void sink.close())
const hook = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/wake`

const setMany = (tenant: string, count: number, target: unknown = { webhook: hook }) =>
  as(tenant)('POST', '/v1/alarms/batch', {
    items: Array.from({ length: count }, () => ({ delay: '50ms', target, label: tenant })),
  })
const of = (tenant: string) => received.filter((each) => each.tenant === tenant)

it('pauses a tenant: its due alarms wait, others fire, and it is caught up with at a rate', async () => {
  expect((await server.call('POST', '/v1/tenants/acme/pause')).json).toMatchObject({
    paused: true,
    catching_up: false,
  })
  await setMany('acme', 30)
  await setMany('other', 5)
  await until(() => of('other').length === 5)
  const { json } = await as('acme')('GET', '/v1/alarms?limit=1')
  await until(async () =>
    /paused/.test((await as('acme')('GET', `/v1/alarms/${json.items[0].id}/why`)).json.next),
  )
  expect(of('acme')).toEqual([])
  const resumed = await server.call('POST', '/v1/tenants/acme/resume', { per_second: 20 })
  expect(resumed.json).toMatchObject({ paused: false, catching_up: true })
  await until(() => of('acme').length === 30)
  const times = of('acme').map(({ at }) => at)
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(700)
  expect(new Set(of('acme').map(({ id }) => id)).size).toBe(30)
  await until(async () => (await server.call('GET', '/v1/tenants/acme')).json.catching_up === false)
  const { items } = (await as('acme')('GET', '/v1/alarms?limit=50')).json
  expect(items.every(({ failure_count }: { failure_count: number }) => failure_count === 0)).toBe(true)
})

it('pauses a target for the alarms of all owners', async () => {
  const elsewhere = `${hook}/elsewhere`
  const paused = await server.call('POST', '/v1/targets/pause', { target: elsewhere })
  expect(paused.json).toEqual({ target: elsewhere, kind: 'webhook', paused: true, catching_up: false })
  expect((await server.call('GET', '/v1/targets/held')).json.items).toEqual([paused.json])
  await setMany('one', 2, { webhook: elsewhere })
  await setMany('two', 2)
  await until(() => of('two').length === 2)
  expect(of('one')).toEqual([])
  const resumed = await server.call('POST', '/v1/targets/resume', { target: elsewhere })
  expect(resumed.json).toEqual({ target: elsewhere, kind: 'webhook', paused: false, catching_up: true })
  expect((await server.call('GET', '/v1/targets/held')).json.items).toEqual([resumed.json])
  await until(() => of('one').length === 2)
  await until(async () => (await server.call('GET', '/v1/targets/held')).json.items.length === 0)
  expect((await server.call('POST', '/v1/targets/resume', { target: 'never' })).status).toBe(404)
})

it('limits concurrent deliveries of a tenant to its quota', async () => {
  await server.call('PUT', '/v1/tenants/narrow', { quotas: { concurrent_deliveries: 2 } })
  responseMs = 60
  most = 0
  await setMany('narrow', 12)
  await until(() => of('narrow').length === 12)
  expect(most).toBe(2)
})

it('records what admins did', async () => {
  const { json } = await as('acme')('GET', '/v1/events?limit=500')
  const acts = json.items.filter(({ type }: { type: string }) => type.startsWith('admin.'))
  expect(acts.map(({ type, data }: { type: string; data: object }) => [type, data])).toEqual([
    ['admin.tenant_paused', { by: 'local', tenant: 'acme' }],
    ['admin.tenant_resumed', { by: 'local', tenant: 'acme', per_second: 20 }],
  ])
  expect(server.lines.filter((line) => line.includes('"audit":true'))).toHaveLength(5)
})

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}
