import { expect, it } from 'vitest'
import { type Called, caller, serving } from './harness.ts'
import { connected } from './ws-client.ts'

const server = await serving()
await server.wakeful.start()
const EVENT = { event: true }
const as = (tenant: string, owner = '') =>
  caller(server.url, { 'wakeful-tenant': tenant, 'wakeful-owner': owner })
const put = (tenant: string, body: object) => server.call('PUT', `/v1/tenants/${tenant}`, body)
const refusal = ({ status, json, headers }: Called) => [
  status,
  json.code,
  Number(headers.get('retry-after')) > 0,
]

it('has none by default', async () => {
  const items = Array.from({ length: 500 }, () => ({ delay: '1s', target: EVENT }))
  expect((await as('free')('POST', '/v1/alarms/batch', { items })).status).toBe(201)
  expect((await server.call('GET', '/v1/tenants/free')).json).toEqual({
    tenant: 'free',
    quotas: {},
    owner_quotas: {},
    paused: false,
    catching_up: false,
    stats: expect.objectContaining({ total: 500, pending: 500 }),
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
  // An existing alarm may be set again, and a cancelled one no longer counts.
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
  // Not within five minutes, whatever the time is now.
  const daily = await wake({ cron_expr: `0 ${(new Date().getUTCHours() + 6) % 24} * * *` })
  expect(daily.status).toBe(201)
  expect((await agent('PATCH', `/v1/alarms/${daily.json.id}`, { every: '1s' })).status).toBe(429)
  expect((await as('loop', 'other')('POST', '/v1/alarms', { delay: '1s', target: EVENT })).status).toBe(201)
})

it('keeps one owner’s flood from using the quota of its tenant', async () => {
  await put('shared', {
    quotas: { sets_per_second: 50, wakes_per_hour: 50 },
    owner_quotas: { sets_per_second: 10, wakes_per_hour: 5 },
  })
  const set = (owner: string, delay: string) =>
    as('shared', owner)('POST', '/v1/alarms', { delay, target: EVENT })
  const floods = { eve: '1h', zoe: '4m' }
  for (const [owner, delay] of Object.entries(floods)) {
    const attempts = await Promise.all(Array.from({ length: 300 }, () => set(owner, delay)))
    const refused = attempts.filter(({ status }) => status === 429)
    expect(refused.every(({ json }) => /^you may /.test(json.detail))).toBe(true)
    for (let n = 0; n < 4; n++) expect((await set(`mal ${owner}`, delay)).status).toBe(201)
  }
})

it('counts everything that fires soon as a wake, whichever call sets it', async () => {
  await put('soon', { owner_quotas: { wakes_per_hour: 5 } })
  const agent = (owner: string) => {
    const by = as('soon', owner)
    return { by, set: (body: object) => by('POST', '/v1/alarms', { target: EVENT, ...body }) }
  }
  const accepted = async (attempts: number, one: () => Promise<{ status: number }>) => {
    let count = 0
    for (let n = 0; n < attempts; n++) count += (await one()).status < 300 ? 1 : 0
    return count
  }
  const once = agent('every')
  expect(await accepted(9, () => once.set({ every: '1s', count: 1 }))).toBe(5)

  const fires = agent('fire')
  const { json: daily } = await fires.set({ every: '1d' })
  expect(await accepted(9, () => fires.by('POST', `/v1/alarms/${daily.id}/fire`))).toBe(5)
  expect(refusal(await fires.by('POST', `/v1/alarms/${daily.id}/fire`))).toEqual([
    429,
    'quota_exceeded',
    true,
  ])
  // It has not failed, so there is nothing to retry; but the quota is used up before that is checked.
  expect((await fires.by('POST', `/v1/alarms/${daily.id}/retry`)).status).toBe(429)

  const moved = agent('start')
  const { json: paced } = await moved.set({ every: '1d' })
  const start = () => new Date(Date.now() + 10_000).toISOString()
  const restart = () => moved.by('PATCH', `/v1/alarms/${paced.id}`, { start: start() })
  expect(await accepted(9, restart)).toBe(5)

  const bulk = agent('bulk')
  for (let n = 0; n < 9; n++) await bulk.set({ every: '1d' })
  const act = () => bulk.by('POST', '/v1/alarms/actions', { action: 'fire', filter: {} })
  expect((await act()).json).toMatchObject({ matched: 9, done: 5 })
  const { done, refused } = (await act()).json
  expect([done, refused.length, refused[0].code]).toEqual([0, 9, 'quota_exceeded'])

  const live = agent('ws')
  const { json: weekly } = await live.set({ every: '7d' })
  const ws = await connected(server.url, { headers: { 'wakeful-tenant': 'soon', 'wakeful-owner': 'ws' } })
  const codes = []
  for (let n = 0; n < 6; n++) codes.push((await ws.call('fire', { id: weekly.id })).error?.code)
  expect(codes).toEqual([undefined, undefined, undefined, undefined, undefined, 'quota_exceeded'])
  ws.socket.close()

  // Calls that cause no wake use up nothing.
  const clumsy = agent('clumsy')
  for (let n = 0; n < 9; n++) expect((await clumsy.by('POST', '/v1/alarms/nobody/fire')).status).toBe(404)
  expect((await clumsy.set({ delay: '1s' })).status).toBe(201)
})

it('reads a reschedule in the zone of its alarm', async () => {
  await put('zones', { owner_quotas: { wakes_per_hour: 2, min_interval: '1m' } })
  const set = async (owner: string, timezone: string, when: object) => {
    const by = as('zones', owner)
    const { json } = await by('POST', '/v1/alarms', { ...when, timezone, target: EVENT })
    return (body: object) => by('PATCH', `/v1/alarms/${json.id}`, body)
  }
  /** A wall time in a zone, this many hours from UTC. */
  const wall = (hours: number, laterMs: number) =>
    new Date(Date.now() + hours * 3_600_000 + laterMs).toISOString().slice(0, 19)
  // In UTC it would be tomorrow.
  const east = await set('east', 'Etc/GMT-14', { delay: '30d' })
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await east({ fire_at: wall(14, 60_000) })).status)
  expect(statuses).toEqual([200, 200, 429, 429])
  // In UTC it would end before it begins.
  const west = await set('west', 'Etc/GMT+12', { every: '30d' })
  expect((await west({ every: '1s', end: wall(-12, 3_600_000) })).json.detail).toMatch('min_interval')
  expect((await west({ every: '10m', end: wall(-12, 3_600_000) })).status).toBe(200)
})

it('enforces the limit on active alarms for concurrent calls', async () => {
  await put('crowd', { quotas: { active_alarms: 20 } })
  const crowd = as('crowd', 'one')
  const items = Array.from({ length: 20 }, () => ({ delay: '1h', target: EVENT }))
  const refusedAtFirst = { items: [...items.slice(1), { delay: '1h', target: { webhook: 'no url' } }] }
  expect((await crowd('POST', '/v1/alarms/batch', refusedAtFirst)).status).toBe(400)
  const batches = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      as('crowd', `owner ${n % 3}`)('POST', '/v1/alarms/batch', { items }),
    ),
  )
  expect(batches.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(await server.wakeful.operator.pendingOf('crowd')).toBe(20)
})

it('does not let ended alarms become active beyond the limit', async () => {
  const owner = as('back', 'one')
  const set = (body: object) => owner('POST', '/v1/alarms', { target: 'inbox', ...body })
  const fired = async () => {
    const { json } = await set({ delay: '0s', ack: 'report', max_failures: 1, completion_timeout: '1h' })
    await until(async () => (await owner('GET', `/v1/alarms/${json.id}`)).json.status === 'fired')
    return json.id as string
  }
  const [failed, awaiting] = [await fired(), await fired()]
  expect((await owner('POST', `/v1/alarms/${failed}/fail`)).json.status).toBe('failed')
  const { json: other } = await set({ delay: '1h' })
  await put('back', { owner_quotas: { active_alarms: 1 } })
  await until(async () => (await set({ delay: '1h' })).status === 429)
  expect(refusal(await owner('POST', `/v1/alarms/${failed}/retry`))).toEqual([429, 'quota_exceeded', true])
  expect((await owner('PATCH', `/v1/alarms/${awaiting}`, { delay: '1h' })).status).toBe(429)
  expect(
    (await owner('POST', '/v1/alarms/actions', { action: 'retry', filter: { status: 'failed' } })).json.done,
  ).toBe(0)
  // An existing alarm may be moved, and a cancelled one no longer counts.
  expect((await owner('PATCH', `/v1/alarms/${other.id}`, { delay: '2h' })).status).toBe(200)
  expect((await owner('POST', '/v1/alarms/nobody/retry')).status).toBe(404)
  await owner('DELETE', `/v1/alarms/${other.id}`)
  expect((await owner('POST', `/v1/alarms/${failed}/retry`)).status).toBe(200)
})

it('answers a repeated idempotency key even if the quota is used up', async () => {
  await put('again', { quotas: { active_alarms: 2, sets_per_second: 2, wakes_per_hour: 2 } })
  const again = as('again')
  const body = { delay: '4m', target: EVENT, idempotency_key: 'order-7' }
  const first = await again('POST', '/v1/alarms', body)
  for (let n = 0; n < 9; n++) {
    const { status, json } = await again('POST', '/v1/alarms', body)
    expect([status, json.deduped, json.id]).toEqual([200, true, first.json.id])
  }
  expect((await again('POST', '/v1/alarms', { ...body, delay: '1h', idempotency_key: 'b' })).status).toBe(201)
  expect((await again('POST', '/v1/alarms', { ...body, idempotency_key: 'c' })).status).toBe(429)
  expect((await again('POST', '/v1/alarms/batch', { items: [body, body] })).json.items[0].deduped).toBe(true)
})

it('bounds payloads below the server’s own limit', async () => {
  await put('small', { quotas: { payload_bytes: 10 } })
  const set = (payload: unknown) => as('small')('POST', '/v1/alarms', { delay: '1h', target: EVENT, payload })
  expect((await set('12345678')).status).toBe(201)
  expect((await set('123456789')).json).toMatchObject({ code: 'payload_too_large', status: 413 })
})

it('counts everything an alarm carries as payload', async () => {
  await put('carry', { quotas: { payload_bytes: 1_000 } })
  const carry = as('carry')
  const hook = { webhook: 'https://example.com/wake' }
  const long = 'x'.repeat(990)
  const ways = [
    { wake_message: 'é'.repeat(501) },
    { target: { ...hook, body: { text: long } } },
    { target: { ...hook, headers: { 'x-data': long } } },
    { on_failure: { ...hook, body: { text: long } } },
    { payload: 'x'.repeat(500), wake_message: 'x'.repeat(500) },
  ]
  const { json } = await carry('POST', '/v1/alarms', {
    delay: '1h',
    target: hook,
    wake_message: 'x'.repeat(900),
  })
  for (const way of ways) {
    const set = await carry('POST', '/v1/alarms', { delay: '1h', target: EVENT, ...way })
    expect([set.status, set.json.code]).toEqual([413, 'payload_too_large'])
    expect(set.json.detail).toMatch('Your quota is 1000 (payload_bytes)')
    expect((await carry('PATCH', `/v1/alarms/${json.id}`, way)).status).toBe(413)
  }
})

it('names the quota in every error, with a retry time if waiting helps', async () => {
  const refusing = async (quotas: object, body: object) => {
    await put('names', { quotas })
    let refused: Called | undefined
    await until(async () => {
      refused = await as('names')('POST', '/v1/alarms', { delay: '1s', target: EVENT, ...body })
      return refused.status === 429
    })
    return [refused!.json.detail, refused!.headers.has('retry-after')]
  }
  expect(await refusing({ sets_per_second: 1 }, {})).toEqual([
    expect.stringMatching(/^your tenant may set 1 alarm per second \(sets_per_second\)/),
    true,
  ])
  expect(await refusing({ wakes_per_hour: 1 }, {})).toEqual([
    expect.stringMatching(/^your tenant may set 1 alarm per hour that .*\(wakes_per_hour\)/),
    true,
  ])
  expect(await refusing({ active_alarms: 0 }, {})).toEqual([
    expect.stringMatching(/^your tenant may have 0 active alarms \(active_alarms\)/),
    true,
  ])
  expect(await refusing({ min_interval: '1m' }, { delay: undefined, every: '10s' })).toEqual([
    expect.stringMatching(/every 1m at the shortest \(min_interval\).*waiting does not help/),
    false,
  ])
})

it('rejects invalid input with the same message as without quotas, and names the item of a batch', async () => {
  const ample = {
    active_alarms: 1_000,
    sets_per_second: 1_000,
    wakes_per_hour: 1_000,
    payload_bytes: 1_000_000,
    min_interval: '1m',
  }
  await put('bound', { quotas: ample, owner_quotas: ample })
  const good = { delay: '1h', target: EVENT }
  const wrong = [
    { cron_expr: '61 * * * *', target: EVENT },
    { every: '-1h', target: EVENT },
    { when: 'on the day of never', target: EVENT },
    { delay: '1h', timezone: 'Mars/Olympus', target: EVENT },
    { every: '1h', exclude: 'nobody’s calendar', target: EVENT },
    { delay: '1h', target: { webhook: 'no url' } },
    { delay: '1h', target: EVENT, payload: 'x'.repeat(300_000) },
  ]
  const batches = [
    ...wrong.map((item) => [good, item, good]),
    [wrong.at(-1), wrong[0]],
    [wrong[0], wrong.at(-1)],
  ]
  const detailsOf = async (tenant: string, method: string, path: string, body: object) => {
    const { status, json } = await as(tenant)(method, path, body)
    expect(status).toBeGreaterThanOrEqual(400)
    return { ...json, request_id: undefined }
  }
  const sameForBoth = async (method: string, path: string, body: object) => {
    const free = await detailsOf('unbound', method, path, body)
    expect(await detailsOf('bound', method, path, body)).toEqual(free)
    return free
  }
  for (const items of batches) {
    const at = items.findIndex((item) => item !== good)
    const { errors, detail } = await sameForBoth('POST', '/v1/alarms/batch', { items })
    expect(errors[0].field.startsWith(`items[${at}]`)).toBe(true)
    expect(detail).toMatch(`\`items[${at}]`)
  }
  for (const body of wrong) {
    await sameForBoth('POST', '/v1/alarms', body)
    await sameForBoth('PUT', '/v1/alarms/by-key/k', body)
    await sameForBoth('PATCH', '/v1/alarms/nobody', body)
  }
})

it('names the item of a batch that is beyond a quota of its own', async () => {
  await put('items', { owner_quotas: { min_interval: '1h', payload_bytes: 100 } })
  const good = { delay: '1h', target: EVENT }
  const refused = async (item: object) => {
    const { status, json } = await as('items')('POST', '/v1/alarms/batch', { items: [good, item] })
    return [status, json.code, json.errors?.[0].field]
  }
  expect(await refused({ every: '1m', target: EVENT })).toEqual([429, 'quota_exceeded', 'items[1]'])
  expect(await refused({ ...good, wake_message: 'x'.repeat(101) })).toEqual([
    413,
    'payload_too_large',
    'items[1]',
  ])
})

it('rejects invalid quotas', async () => {
  expect((await put('x', { quotas: { active_alarm: 1 } })).json.detail).toMatch(
    'Unknown field "active_alarm"',
  )
  expect((await put('x', { quotas: { min_interval: 'soon' } })).status).toBe(400)
  expect((await put('x', { quotas: { active_alarms: -1 } })).status).toBe(400)
})

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 50))
}
