import { expect, it } from 'vitest'
import { type Called, caller, serving } from './harness.ts'

const server = await serving()
const EVENT = { event: true }
const as = (tenant: string, owner = '') =>
  caller(server.url, { 'wakeful-tenant': tenant, 'wakeful-owner': owner })
const put = (tenant: string, body: object) => server.call('PUT', `/v1/tenants/${tenant}`, body)
const refusal = ({ status, json, headers }: Called) => [
  status,
  json.code,
  Number(headers.get('retry-after')) > 0,
]

it('has none until they are configured', async () => {
  const items = Array.from({ length: 500 }, () => ({ delay: '1s', target: EVENT }))
  expect((await as('free')('POST', '/v1/alarms/batch', { items })).status).toBe(201)
  expect((await server.call('GET', '/v1/tenants/free')).json).toEqual({
    tenant: 'free',
    quotas: {},
    owner_quotas: {},
    paused: false,
    catching_up: false,
  })
})

it('bounds active alarms of a tenant and of an owner, and leaves others alone', async () => {
  await put('acme', { quotas: { active_alarms: 5 }, owner_quotas: { active_alarms: 3 } })
  const [ann, bob] = [as('acme', 'ann'), as('acme', 'bob')]
  const set = (by: typeof ann, more: object = {}) =>
    by('POST', '/v1/alarms', { delay: '1h', target: EVENT, ...more })
  const first = await set(ann, { key: 'k' })
  for (let n = 0; n < 2; n++) expect((await set(ann)).status).toBe(201)
  expect(refusal(await set(ann))).toEqual([429, 'quota_exceeded', true])
  // What is there already may be set again, and what is cancelled makes room.
  expect((await set(ann, { key: 'k' })).status).toBe(200)
  for (let n = 0; n < 2; n++) expect((await set(bob)).status).toBe(201)
  expect((await set(bob)).json.detail).toMatch('your tenant may have 5 active alarms')
  expect((await set(as('other'))).status).toBe(201)
  await ann('DELETE', `/v1/alarms/${first.json.id}`)
  await until(async () => (await set(bob)).status === 201)
})

it('bounds how fast alarms are set, and says when to try again', async () => {
  await put('fast', { quotas: { sets_per_second: 5 } })
  const statuses = await Promise.all(
    Array.from({ length: 20 }, () => as('fast')('POST', '/v1/alarms', { delay: '1h', target: EVENT })),
  )
  expect(statuses.filter(({ status }) => status === 201).length).toBeLessThan(10)
  expect(refusal(statuses.find(({ status }) => status === 429)!)).toEqual([429, 'rate_limited', true])
  expect((await as('slow')('POST', '/v1/alarms', { delay: '1h', target: EVENT })).status).toBe(201)
  await until(
    async () => (await as('fast')('POST', '/v1/alarms', { delay: '1h', target: EVENT })).status === 201,
  )
})

it('stops an agent that wakes itself in a loop, and not one that sets reminders for tomorrow', async () => {
  await put('loop', { owner_quotas: { wakes_per_hour: 3, min_interval: '1m' } })
  const agent = as('loop', 'agent')
  const wake = (body: object) => agent('POST', '/v1/alarms', { target: EVENT, ...body })
  for (let n = 0; n < 3; n++) expect((await wake({ delay: '10s' })).status).toBe(201)
  expect(refusal(await wake({ delay: '10s' }))).toEqual([429, 'quota_exceeded', true])
  expect((await wake({ when: 'tomorrow at 9am' })).status).toBe(201)
  expect((await wake({ every: '10s' })).json.detail).toMatch('every 1m at the shortest')
  expect((await wake({ cron_expr: '*/10 * * * * *' })).status).toBe(429)
  const hourly = await wake({ cron_expr: '0 * * * *' })
  expect(hourly.status).toBe(201)
  expect((await agent('PATCH', `/v1/alarms/${hourly.json.id}`, { every: '1s' })).status).toBe(429)
  expect((await as('loop', 'other')('POST', '/v1/alarms', { delay: '1s', target: EVENT })).status).toBe(201)
})

it('bounds payloads below the server’s own limit', async () => {
  await put('small', { quotas: { payload_bytes: 10 } })
  const set = (payload: unknown) => as('small')('POST', '/v1/alarms', { delay: '1h', target: EVENT, payload })
  expect((await set('12345678')).status).toBe(201)
  expect((await set('123456789')).json).toMatchObject({ code: 'payload_too_large', status: 413 })
})

it('refuses quotas that are none', async () => {
  expect((await put('x', { quotas: { active_alarm: 1 } })).json.detail).toMatch(
    'unknown field "active_alarm"',
  )
  expect((await put('x', { quotas: { min_interval: 'soon' } })).status).toBe(400)
  expect((await put('x', { quotas: { active_alarms: -1 } })).status).toBe(400)
})

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 50))
}
