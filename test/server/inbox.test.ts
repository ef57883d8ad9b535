import { expect, it, vi } from 'vitest'
import { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { serving } from './harness.ts'

const server = await serving()
const { call, wakeful } = server
await wakeful.start()
const DID = 'did:matrix:7b0c-user:f00'
const as = { 'wakeful-owner': DID }

it('delivers a wake to a waiting agent, and accepts its report', async () => {
  const waiting = call('GET', '/v1/inbox?wait=20s', undefined, as)
  const payload = '{"n":9007199254740993,"b":1,"a":[]}'
  const set = await call(
    'POST',
    '/v1/alarms',
    `{"delay":"10ms","target":"inbox","ack":"report","label":"l","wake_message":"go on","conversation_id":"c","payload":${payload}}`,
    as,
  )
  expect(set.json.target).toBe('inbox')
  const got = await waiting
  expect(got.text).toContain(`"payload":${payload}`)
  const [wake] = got.json.items
  expect(wake).toMatchObject({
    alarm_id: set.json.id,
    occurrence_id: expect.stringContaining(set.json.id),
    attempt: 1,
    label: 'l',
    key: null,
    owner: DID,
    user_id: '7b0c-user',
    conversation_id: 'c',
    wake_message: 'go on',
    correlation_id: set.json.id,
    subject: null,
    tries: 1,
  })
  expect(wake.drift_ms).toBeGreaterThanOrEqual(0)
  // Reserved for its reader, and invisible to others.
  expect((await call('GET', '/v1/inbox', undefined, as)).json.items).toEqual([])
  const path = `/v1/inbox/${wake.occurrence_id}/ack`
  expect((await call('POST', path)).status).toBe(404)
  expect((await call('POST', path, { complete: 'done', fail: 'no' }, as)).json.code).toBe('invalid_request')
  // A wrong report changes nothing: the wake stays reserved, and the corrected report is accepted.
  for (const [wrong, field] of [
    [{ complete: 5 }, 'complete'],
    [{ fail: { text: 'no' } }, 'fail'],
    [{ complete: 'x'.repeat(64 * 1024 + 1) }, 'complete'],
  ] as const) {
    const { status, json } = await call('POST', path, wrong, as)
    expect([status, json.errors[0].field]).toEqual([400, field])
  }
  expect((await call('GET', '/v1/inbox', undefined, as)).json.items).toEqual([])
  expect((await call('POST', path, { complete: 'done' }, as)).json).toEqual({ acknowledged: true })
  expect((await call('POST', path, {}, as)).status).toBe(404)
  expect((await call('GET', `/v1/alarms/${set.json.id}`, undefined, as)).json).toMatchObject({
    status: 'completed',
    result: 'done',
  })
})

it('delivers an unacknowledged wake again', async () => {
  await call('POST', '/v1/alarms', { delay: '10ms', target: { inbox: true } }, as)
  const first = (await call('GET', '/v1/inbox?wait=20s&hold=50ms', undefined, as)).json.items[0]
  const second = (await call('GET', '/v1/inbox?wait=20s', undefined, as)).json.items[0]
  expect(second).toMatchObject({ occurrence_id: first.occurrence_id, tries: 2 })
  const late = await call('POST', `/v1/inbox/${first.occurrence_id}/ack`, { fail: 'slow', tries: 1 }, as)
  expect([late.status, late.json.detail]).toEqual([404, expect.stringContaining('has been handed out again')])
  const wrong = await call('POST', `/v1/inbox/${first.occurrence_id}/ack`, { tries: 0 }, as)
  expect(wrong.json.code).toBe('invalid_request')
  await call('POST', `/v1/inbox/${second.occurrence_id}/ack`, { complete: 'no report is awaited' }, as)
  expect((await call('GET', '/v1/inbox', undefined, as)).json.items).toEqual([])
})

it('can be an owner’s default target, which is looked up when an alarm fires', async () => {
  const other = { 'wakeful-owner': 'router' }
  const bare = { delay: '1h', conversation_id: 'c' }
  expect((await call('POST', '/v1/alarms', bare, other)).json.detail).toMatch('no target')
  expect((await call('GET', '/v1/owner/target', undefined, other)).status).toBe(404)
  expect((await call('PUT', '/v1/owner/target', { target: 'some-handler' }, other)).json.detail).toMatch(
    `must be {"webhook":"https://…"} or 'inbox'`,
  )
  expect((await call('PUT', '/v1/owner/target', { target: 'inbox' }, other)).json).toEqual({
    target: 'inbox',
  })
  expect((await call('GET', '/v1/owner/target', undefined, other)).json).toEqual({ target: 'inbox' })
  const set = await call('POST', '/v1/alarms', { ...bare, delay: '10ms' }, other)
  expect([set.status, set.json.target]).toEqual([201, 'default'])
  const [wake] = (await call('GET', '/v1/inbox?wait=20s', undefined, other)).json.items
  expect(wake).toMatchObject({ alarm_id: set.json.id, user_id: 'router' })
  expect((await call('DELETE', '/v1/owner/target', undefined, other)).json).toEqual({ removed: true })
  expect((await call('POST', '/v1/alarms', bare, other)).status).toBe(400)
})

it('is bounded', async () => {
  for (const query of ['wait=61s', 'hold=2h', 'limit=0', 'wait=soon', 'until=1'])
    expect((await call('GET', `/v1/inbox?${query}`)).status).toBe(400)
  expect(() => wakeful.handle('inbox', () => {})).toThrow('Give the handler another name')
})

it('shows the second attempt also after a late acknowledgement of the first', async () => {
  const owner = { 'wakeful-owner': 'late' }
  const alarm = { delay: '10ms', target: 'inbox', ack: 'report', backoff: { base_ms: 100 } }
  const { json } = await call('POST', '/v1/alarms', alarm, owner)
  const [first] = (await call('GET', '/v1/inbox?wait=20s', undefined, owner)).json.items
  await call('POST', `/v1/alarms/${json.id}/fail`, { reason: 'not now' }, owner)
  const again = call('GET', '/v1/inbox?wait=20s', undefined, owner)
  // Not handed out yet, or reserved for the waiting reader: in either case it remains.
  const [second] = (await again).json.items
  expect(second).toMatchObject({ occurrence_id: first.occurrence_id, attempt: 2, tries: 1 })
  const acknowledged = await call('POST', `/v1/inbox/${second.occurrence_id}/ack`, { complete: 'ok' }, owner)
  expect(acknowledged.status).toBe(200)
  expect((await call('GET', `/v1/alarms/${json.id}`, undefined, owner)).json.status).toBe('completed')
})

it('does not wake readers for events of others', { timeout: 60_000 }, async () => {
  const looks = vi.spyOn(SqliteStore.prototype, 'claimWakes')
  const reads = vi.spyOn(SqliteStore.prototype, 'events')
  const stop = new AbortController()
  const idle = Array.from({ length: 50 }, (_, n) =>
    wakeful.forTenant('idle', `o${n % 5}`).inbox.take({ wait: '60s', signal: stop.signal }),
  )
  const followed = [wakeful.forTenant('idle', 'o0'), wakeful.forTenant('busy', 'other')].map((alarms) =>
    alarms.events({ follow: true, signal: stop.signal })[Symbol.asyncIterator](),
  )
  const following = followed.map((events) => events.next())
  await new Promise((resolve) => setTimeout(resolve, 50))
  looks.mockClear()
  reads.mockClear()
  const startedAt = performance.now()
  const busy = wakeful.forTenant('busy', 'bee')
  for (let n = 0; n < 200; n++) await busy.set({ delay: '1ms' }, { target: 'inbox' })
  for (let got = 0; got < 200; ) {
    const wakes = await busy.inbox.take({ wait: '20s' })
    got += wakes.length
    for (const { occurrenceId } of wakes) await busy.inbox.ack(occurrenceId)
  }
  // Each looks once a second. If every set and fire had woken each of them, these would be more than 10,000.
  const ownLooks = 50 * (1 + Math.ceil((performance.now() - startedAt) / 1_000))
  expect(looks.mock.calls.filter(([{ tenant }]) => tenant === 'idle').length).toBeLessThanOrEqual(ownLooks)
  expect(reads).not.toHaveBeenCalled()
  // It is woken for its own alarms, whichever object sets them.
  const [event] = await Promise.all([
    following[0],
    wakeful.forTenant('idle', 'o0').append({ type: 'order.paid' }),
  ])
  expect(event!.value.type).toBe('order.paid')
  await wakeful.forTenant('idle', 'o1').set({ delay: '1ms' }, { target: 'inbox' })
  await Promise.race(idle.filter((_, n) => n % 5 === 1))
  stop.abort()
  await Promise.all([...idle, ...following])
  vi.restoreAllMocks()
})

it('allows an owner a hundred waiting calls, without affecting others', { timeout: 60_000 }, async () => {
  const cut = new AbortController()
  const wait = (owner: string, signal = cut.signal) =>
    fetch(`${server.url}/v1/inbox?wait=30s`, { headers: { 'wakeful-owner': owner }, signal })
  const waiting = Array.from({ length: 101 }, () => wait('greedy'))
  for (const each of waiting) each.catch(() => {})
  const refused = await Promise.race(waiting)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
  await wakeful.forTenant('default', 'modest').set({ delay: '1ms' }, { target: 'inbox' })
  expect((await wait('modest')).status).toBe(200)
  // Calls that do not wait are still answered, and so are new ones after others have ended.
  expect((await call('GET', '/v1/inbox', undefined, { 'wakeful-owner': 'greedy' })).status).toBe(200)
  cut.abort()
  await wakeful.forTenant('default', 'greedy').set({ delay: '1ms' }, { target: 'inbox' })
  for (let status = 429; status !== 200; )
    status = (await wait('greedy', new AbortController().signal)).status
})
