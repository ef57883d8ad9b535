import { expect, it } from 'vitest'
import { operations } from '../../src/contracts/index.ts'
import { serving } from './harness.ts'

const server = await serving()
const { call } = server
const EVENT = { event: true }

it('sets an alarm and shows it as Chronos does, field for field', async () => {
  const set = await call('POST', '/v1/alarms', {
    cron_expr: '@every 5m',
    timezone: 'Europe/Rome',
    label: 'portfolio',
    wake_message: 'look again',
    conversation_id: 'c-1',
    target: EVENT,
    payload: { a: 1 },
    idempotency_key: 'i-1',
    max_failures: 3,
  })
  expect(set.status).toBe(201)
  expect(set.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    label: 'portfolio',
    kind: 'cron',
    cron_expr: '@every 5m',
    timezone: 'Europe/Rome',
    next_fire_at: expect.stringMatching(/^\d{4}-.*Z$/),
    conversation_id: 'c-1',
    wake_message: 'look again',
    payload: { a: 1 },
    status: 'active',
    idempotency_key: 'i-1',
    max_failures: 3,
    failure_count: 0,
    created_at: expect.any(String),
    correlation_id: set.json.id,
    target: 'event',
    ack: 'delivery',
    created_via: 'rest',
    updated_at: expect.any(String),
  })
  expect((await call('GET', `/v1/alarms/${set.json.id}`)).json).toEqual(set.json)
  const again = await call('POST', '/v1/alarms', { delay: '1h', target: EVENT, idempotency_key: 'i-1' })
  expect([again.status, again.json]).toEqual([200, { ...set.json, deduped: true }])
})

it('omits fields without a value, and next_fire_at once it is no longer active', async () => {
  const { json } = await call('POST', '/v1/alarms', { delay: '1h', target: EVENT })
  expect(json).not.toHaveProperty('payload')
  expect(json).not.toHaveProperty('conversation_id')
  expect(json.wake_message).toBe('')
  const cancelled = await call('DELETE', `/v1/alarms/${json.id}`)
  expect(cancelled.status).toBe(200)
  expect(cancelled.json.outcome).toBe('cancelled')
  expect(cancelled.json.alarm.status).toBe('cancelled')
  expect(cancelled.json.alarm).not.toHaveProperty('next_fire_at')
  expect((await call('DELETE', `/v1/alarms/${json.id}`)).json.outcome).toBe('ended')
})

it('returns payload and message byte for byte (promise: verbatim)', async () => {
  const payload =
    '{"z":9007199254740993, "a" : [1.0, 1e400, -0], "2":"\\u00e9é😀\\n", "1":{"__proto__":{"x":1}}, "k":1,"k":2}'
  const wake_message = 'line\n\ttab "quotes" \u2028 é 😀 \\u0041'
  const body = `{"delay":"1h","target":{"event":true},"payload":${payload},"wake_message":${JSON.stringify(wake_message)}}`
  const set = await call('POST', '/v1/alarms', body)
  expect(set.status).toBe(201)
  for (const answer of [
    set,
    await call('GET', `/v1/alarms/${set.json.id}`),
    await call('GET', '/v1/alarms?limit=1'),
    await call('PATCH', `/v1/alarms/${set.json.id}`, { label: 'x' }),
    await call('GET', '/v1/history?limit=1'),
    await call('DELETE', `/v1/alarms/${set.json.id}`),
  ]) {
    expect(answer.status).toBeLessThan(300)
    expect(answer.text).toContain(`"payload":${payload}`)
    expect(answer.text).toContain(`"wake_message":${JSON.stringify(wake_message)}`)
  }
  const batch = await call('POST', '/v1/alarms/batch', `{"items":[${body},${body}]}`)
  expect(batch.text.split(payload)).toHaveLength(3)
})

it('accepts an idempotency key as a header', async () => {
  const set = (headers: Record<string, string>, more: object = {}) =>
    call('POST', '/v1/alarms', { delay: '1h', target: EVENT, ...more }, headers)
  const first = await set({ 'idempotency-key': 'h-1' })
  expect([first.status, first.json.idempotency_key]).toEqual([201, 'h-1'])
  for (const again of [
    await set({ 'Idempotency-Key': '"h-1"' }),
    await set({ 'idempotency-key': 'h-1' }, { idempotency_key: 'h-1' }),
    await set({}, { idempotency_key: 'h-1' }),
  ])
    expect(again).toMatchObject({ status: 200, json: { id: first.json.id, deduped: true } })
  expect(await set({ 'idempotency-key': 'h-1' }, { idempotency_key: 'h-2' })).toMatchObject({
    status: 400,
    json: { code: 'invalid_request', detail: expect.stringContaining('differ') },
  })
  expect((await set({ 'idempotency-key': '' })).status).toBe(400)
})

it('accepts that header for a set by key, and rejects it for a batch', async () => {
  const put = (headers: Record<string, string>, more: object = {}) =>
    call('PUT', '/v1/alarms/by-key/h-key', { delay: '1h', target: EVENT, ...more }, headers)
  const first = await put({ 'idempotency-key': 'h-put' })
  expect([first.status, first.json.idempotency_key]).toEqual([201, 'h-put'])
  expect(await put({ 'idempotency-key': 'h-put' }, { delay: '2h' })).toMatchObject({
    status: 200,
    json: { id: first.json.id, deduped: true, next_fire_at: first.json.next_fire_at },
  })
  expect((await put({ 'idempotency-key': 'h-put' }, { idempotency_key: 'h-2' })).status).toBe(400)
  const batch = (headers: Record<string, string>, label: string) => {
    const item = { delay: '1h', target: EVENT, label, idempotency_key: `h-${label}` }
    return call('POST', '/v1/alarms/batch', { items: [item] }, headers)
  }
  expect(await batch({ 'idempotency-key': 'h-batch' }, 'refused')).toMatchObject({
    status: 400,
    json: {
      code: 'invalid_request',
      detail: 'This call does not take the header Idempotency-Key. Give each item its own `idempotency_key`.',
    },
  })
  expect((await call('GET', '/v1/alarms?label=refused')).json.items).toEqual([])
  expect((await batch({}, 'taken')).status).toBe(201)
  expect((await batch({}, 'taken')).json.items[0].deduped).toBe(true)
})

it('ignores that header in other calls', async () => {
  const headers = { 'idempotency-key': 'h-other' }
  const { json } = await call('POST', '/v1/alarms', { every: '1h', target: EVENT })
  for (const [method, path, body] of [
    ['PATCH', `/v1/alarms/${json.id}`, { label: 'edited' }],
    ['POST', `/v1/alarms/${json.id}/pause`],
    ['POST', `/v1/alarms/${json.id}/resume`],
    ['POST', '/v1/preview', { delay: '1h' }],
    ['DELETE', `/v1/alarms/${json.id}`],
  ] as const)
    expect((await call(method, path, body, headers)).status).toBe(200)
})

it('answers the same 404 for a missing alarm and for another owner’s', async () => {
  const { json } = await call(
    'POST',
    '/v1/alarms',
    { delay: '1h', target: EVENT },
    { 'wakeful-owner': 'other' },
  )
  const unknown = '01a1e136-0000-7000-8000-000000000000'
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/why'],
    ...['pause', 'resume', 'skip', 'fire', 'retry', 'complete', 'fail'].map((verb) => ['POST', `/${verb}`]),
  ] as [string, string][]) {
    const body = method === 'PATCH' ? { label: 'mine' } : undefined
    const theirs = await call(method, `/v1/alarms/${json.id}${path}`, body)
    const none = await call(method, `/v1/alarms/${unknown}${path}`, body)
    expect(theirs.status).toBe(404)
    const neutral = (answer: object, id: string) =>
      JSON.parse(JSON.stringify({ ...answer, request_id: '' }).replaceAll(id, 'ID'))
    expect(neutral(theirs.json, json.id)).toEqual(neutral(none.json, unknown))
  }
})

it('sets by key: new, then again', async () => {
  const first = await call('PUT', '/v1/alarms/by-key/a%2Fb%20c', { delay: '1h', target: EVENT })
  expect([first.status, first.json.key]).toEqual([201, 'a/b c'])
  const second = await call('PUT', '/v1/alarms/by-key/a%2Fb%20c', {
    delay: '2h',
    target: EVENT,
    label: 'new',
  })
  expect([second.status, second.json.id, second.json.label]).toEqual([200, first.json.id, 'new'])
  expect((await call('GET', '/v1/alarms/by-key/a%2Fb%20c')).json).toEqual(second.json)
  expect((await call('GET', '/v1/alarms/by-key/none')).status).toBe(404)
})

it('edits and reschedules in one change, and rejects an outdated version', async () => {
  const set = await call('POST', '/v1/alarms', { fire_at: '2040-01-01T09:00:00Z', target: EVENT, label: 'a' })
  const etag = set.headers.get('etag')!
  const edited = await call(
    'PATCH',
    `/v1/alarms/${set.json.id}`,
    { fire_at: '2041-01-01T09:00:00', timezone: 'Europe/Rome', label: 'b' },
    { 'if-match': etag },
  )
  expect(edited.json).toMatchObject({
    label: 'b',
    next_fire_at: '2041-01-01T08:00:00.000Z',
    timezone: 'Europe/Rome',
  })
  const late = await call('PATCH', `/v1/alarms/${set.json.id}`, { label: 'c' }, { 'if-match': etag })
  expect([late.status, late.json.code]).toEqual([409, 'conflict'])
  expect((await call('PATCH', `/v1/alarms/${set.json.id}`, {})).json.detail).toMatch('nothing to edit')
  expect((await call('PATCH', `/v1/alarms/${set.json.id}`, { key: 'k' })).json.detail).toMatch(
    '`key` cannot be edited',
  )
})

it('lists by pages, capped at 500', async () => {
  const items = Array.from({ length: 30 }, (_, n) => ({
    delay: `${n + 1}h`,
    target: EVENT,
    subject: 'paged',
    label: `n${n}`,
  }))
  expect((await call('POST', '/v1/alarms/batch', { items })).json.items).toHaveLength(30)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { json } = await call('GET', `/v1/alarms?subject=paged&limit=7${cursor && `&cursor=${cursor}`}`)
    seen.push(...json.items.map(({ label }: { label: string }) => label))
    cursor = json.next_cursor
  }
  expect(seen).toEqual(items.map(({ label }) => label).reverse())
  expect((await call('GET', '/v1/alarms?subject=paged&order=due&limit=1')).json.items[0].label).toBe('n0')
  expect((await call('GET', '/v1/alarms?limit=501')).json.code).toBe('invalid_request')
  expect((await call('GET', '/v1/alarms?limitt=5')).json.detail).toMatch('Unknown field "limitt"')
  expect((await call('GET', '/v1/alarms?limit=5&limit=6')).json.detail).toMatch('"limit" appears twice')
})

it('lists alarms with a next instant by due time, and rejects that order for others', async () => {
  const set = async (delay: string) =>
    (await call('POST', '/v1/alarms', { delay, target: EVENT, subject: 'to come' })).json.id
  const [later, paused, sooner] = [await set('2h'), await set('1h'), await set('90m')]
  await call('POST', `/v1/alarms/${paused}/pause`)
  const list = async (more: string) => (await call('GET', `/v1/alarms?subject=to%20come${more}`)).json
  const ids = async (more: string) => (await list(more)).items.map(({ id }: { id: string }) => id)
  expect(await ids('&status=pending')).toEqual([sooner, paused, later])
  for (const status of ['', '&status=pending', '&status=active'])
    expect(await ids(`&order=due${status}`)).toEqual([sooner, later])
  for (const status of ['paused', 'completed', 'failed', 'timed_out', 'cancelled'])
    expect(await list(`&order=due&status=${status}`)).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining(`For status ${status}, leave \`order\` out`),
    })
})

it('lists since a time ago, and rejects a future since', async () => {
  await call('POST', '/v1/alarms', { delay: '1h', target: EVENT, subject: 'ago' })
  expect((await call('GET', '/v1/alarms?since=2h&subject=ago')).json.items).toHaveLength(1)
  expect((await call('GET', '/v1/history?since=2h')).json.items).not.toEqual([])
  const order = (since: string) => ({ action: 'pause', filter: { since, subject: 'ago' }, dry_run: true })
  expect((await call('POST', '/v1/alarms/actions', order('2h'))).json.matched).toBe(1)
  const refused = {
    status: 400,
    json: { code: 'invalid_time', detail: expect.stringContaining('that long ago') },
  }
  expect(await call('GET', '/v1/alarms?since=tomorrow')).toMatchObject(refused)
  expect(await call('GET', '/v1/history?since=in+2+hours')).toMatchObject(refused)
  expect(await call('POST', '/v1/alarms/actions', order('florp'))).toMatchObject(refused)
})

it('acts on all matching alarms, and counts them first', async () => {
  const filter = { subject: 'many' }
  const items = Array.from({ length: 5 }, () => ({ delay: '1h', target: EVENT, subject: 'many' }))
  await call('POST', '/v1/alarms/batch', { items })
  const dry = await call('POST', '/v1/alarms/actions', { action: 'pause', filter, dry_run: true })
  expect(dry.json).toEqual({ matched: 5, done: 0, refused: [], more: false })
  expect((await call('POST', '/v1/alarms/actions', { action: 'pause', filter })).json.done).toBe(5)
  expect((await call('GET', '/v1/alarms?subject=many&status=paused')).json.items).toHaveLength(5)
  const skipped = await call('POST', '/v1/alarms/actions', { action: 'retry', filter })
  expect(skipped.json.done).toBe(0)
  expect(skipped.json.refused).toHaveLength(5)
  expect((await call('DELETE', '/v1/subjects/many')).json).toEqual({ cancelled: 5, firing: 0 })
  expect(
    (await call('POST', '/v1/alarms/actions', { action: 'cancel', filter: {} })).json.done,
  ).toBeGreaterThan(5)
  expect((await call('POST', '/v1/reset')).json).toEqual({ cancelled: 0, firing: 0 })
})

it('previews, returns stats and stories, and stores users’ events', async () => {
  const preview = await call('POST', '/v1/preview', {
    cron_expr: '0 9 * * 1-5',
    timezone: 'America/New_York',
    instants: 2,
  })
  expect(preview.json).toMatchObject({ timezone: 'America/New_York', rule: { kind: 'cron' } })
  expect(preview.json.instants).toHaveLength(2)
  expect((await call('GET', '/v1/stats')).json).toMatchObject({ pending: 0, timeout_unknown: 0 })
  expect((await call('GET', '/v1/failed')).json).toEqual({ items: [], next_cursor: null })
  expect((await call('GET', '/v1/history?status=cancelled&since=0&limit=2')).json.items).toHaveLength(2)

  const { json } = await call('POST', '/v1/alarms', { delay: '1h', target: EVENT })
  await call('POST', `/v1/alarms/${json.id}/pause`)
  const why = await call('GET', `/v1/alarms/${json.id}/why`)
  expect(why.json.story.map(({ type }: { type: string }) => type)).toEqual(['alarm.set', 'alarm.paused'])

  const { next_cursor } = (await call('GET', '/v1/events?after=newest')).json
  const data = '{"n":9007199254740993,"b":1,"a":2}'
  const event = await call('POST', '/v1/events', `{"type":"order.paid","subject":"o-1","data":${data}}`)
  expect([event.status, event.json.origin]).toEqual([201, 'caught'])
  const page = await call('GET', `/v1/events?after=${next_cursor}`)
  expect(page.json.items).toEqual([event.json])
  expect(page.text).toContain(`"data":${data}`)
  expect(page.json.next_cursor).toBe(event.json.cursor)
  expect((await call('POST', '/v1/events', { type: 'alarm.fired' })).json.detail).toMatch(
    'written by Wakeful itself',
  )
})

it.each([
  { when: 'tomorrow at 9am', misfire: 'skip' },
  { cron_expr: '0 2 * * *', timezone: 'Europe/Rome', dst: { gap: 'skip' }, misfire: { all: { max: 3 } } },
  {
    rrule: 'FREQ=WEEKLY;BYDAY=MO',
    count: 3,
    jitter: '5m',
    exclude: { weekend: true, move: 'next', offset: 1 },
  },
  { every: '5m', start: '2030-01-01T00:00:00Z', end: '2031-01-01T00:00:00Z' },
  { every: '1 month' },
])('answers a preview of %j as the reference says', async (body) => {
  const { status, json } = await call('POST', '/v1/preview', body)
  expect(status).toBe(200)
  const { schema } = operations.preview.answers[200]
  expect(schema.parse(json)).toEqual(json)
  const described = Object.keys(schema.shape.rule.shape)
  expect(Object.keys(json.rule).filter((name) => !described.includes(name))).toEqual([])
})

it('accepts exactly one time field, with a helpful error', async () => {
  const refused = async (body: unknown) => (await call('POST', '/v1/alarms', body)).json
  expect(await refused({ target: EVENT })).toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining(
      'exactly one of `fire_at`, `delay`, `when`, `cron_expr`, `every`, `rrule`. This time has none',
    ),
  })
  expect((await refused({ delay: '1h', every: '5m', target: EVENT })).detail).toMatch(
    'This time has `delay` and `every`',
  )
  expect(await refused({ fire_at: 'tomorrow', target: EVENT })).toMatchObject({ code: 'invalid_time' })
  const isoOnly = async (fire_at: string) => (await refused({ fire_at, target: EVENT })).detail
  expect(await isoOnly('1794890009')).toMatch(
    'must be an instant such as 2026-11-17T04:33:29.000Z, not "1794890009". Use',
  )
  for (const text of ['1794890009', '20261201', '2026-13-01T00:00:00Z', '+002026-12-01T09:00Z'])
    expect(await isoOnly(text)).not.toMatch('in 30 minutes')
  expect(await refused({ when: 'florp', target: EVENT })).toMatchObject({ code: 'invalid_time' })
  expect(await refused({ cron_expr: 'florp', target: EVENT })).toMatchObject({ code: 'invalid_rule' })
  expect(await refused({ delay: '1h', timezone: 'Mars/Base', target: EVENT })).toMatchObject({
    code: 'invalid_timezone',
  })
  expect(await refused({ delay: 60, target: EVENT })).toMatchObject({ code: 'invalid_request' })
  expect((await refused({ delay: '1h', target: EVENT, maxFailures: 1 })).detail).toMatch(
    'Unknown field "maxFailures". Did you mean `max_failures`? Known: `fire_at`',
  )
  expect((await refused({ delay: '1h', target: EVENT, key: 'é'.repeat(300) })).detail).toMatch(
    '`key` is 600 bytes long',
  )
})

it('answers a set by key whose definition is the same with `unchanged`, in every form of the call', async () => {
  const body = { cron_expr: '@every 5m', target: EVENT, payload: { a: 1 } }
  const first = await call('PUT', '/v1/alarms/by-key/same', body)
  expect([first.status, first.json.unchanged]).toEqual([201, undefined])
  const again = await call('PUT', '/v1/alarms/by-key/same', body)
  expect([again.status, again.json]).toEqual([200, { ...first.json, unchanged: true }])
  const posted = await call('POST', '/v1/alarms', { ...body, key: 'same' })
  expect([posted.status, posted.json.unchanged]).toEqual([200, true])
  const batch = await call('POST', '/v1/alarms/batch', { items: [{ ...body, key: 'same' }] })
  expect(batch.json.items[0].unchanged).toBe(true)
  await call('POST', `/v1/alarms/${first.json.id}/pause`)
  const changed = await call('PUT', '/v1/alarms/by-key/same', { ...body, label: 'new' })
  expect([changed.status, changed.json.status, changed.json.unchanged]).toEqual([200, 'paused', undefined])
  const resumed = await call('PUT', '/v1/alarms/by-key/same', { ...body, label: 'new', paused: false })
  expect([resumed.status, resumed.json.status]).toEqual([200, 'active'])
  const refused = await call('PUT', '/v1/alarms/by-key/same', { ...body, paused: true })
  expect([refused.status, refused.json.field]).toEqual([400, 'paused'])
})
