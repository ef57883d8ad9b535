import { expect, it } from 'vitest'
import { operations } from '../../src/contracts/index.ts'
import { serving } from './harness.ts'
import { connected, refusal } from './ws-client.ts'

const server = await serving()
const { url, call } = server
await server.wakeful.start()
const EVENT = { event: true }

it('answers the calls of seed 001, with its arguments and shapes', async () => {
  const headers = { 'wakeful-owner': 'seed' }
  const ws = await connected(url, { headers })
  const later = (await ws.call('set', { delay: '2h', target: EVENT, label: 'later' })).result
  const soon = (await ws.call('set', { delay: '1h', target: EVENT, label: 'soon' })).result
  expect(soon.created_via).toBe('ws')
  const { result: list } = await ws.call('list')
  expect(list).toEqual([
    { id: soon.id, set_at: Math.floor(Date.parse(soon.next_fire_at) / 1000), time_offset: 3600 },
    { id: later.id, set_at: Math.floor(Date.parse(later.next_fire_at) / 1000), time_offset: 7200 },
  ])
  expect((await ws.call('list', { limit: 1 })).result).toEqual([list[0]])
  expect((await ws.call('count')).result).toBe(2)
  expect((await ws.call('get', { id: soon.id })).result).toEqual(soon)
  await ws.call('cancel', { id: soon.id })
  const since = Math.floor(Date.now() / 1000) - 60
  const history = async (args: object) => (await ws.call('history', args)).result
  expect(
    (await history({ status: 'cancelled', since, limit: 5 })).map(({ id }: { id: string }) => id),
  ).toEqual([soon.id])
  expect(await history({ since: since + 3_600 })).toEqual([])
  expect(await history({ status: 'cancelled', since: '1m' })).toHaveLength(1)
  expect((await ws.call('alarms', { since: '1m' })).result.items).toHaveLength(2)
  expect((await ws.call('history', { since: 'tomorrow' })).error).toMatchObject({ code: 'invalid_time' })
  expect(await history({ process: 'event', status: 'pending' })).toHaveLength(1)
  expect(await history({ target: 'nobody' })).toEqual([])
  expect((await ws.call('stats')).result).toMatchObject({ total: 2, pending: 1, cancelled: 1, failed: 0 })
  expect((await ws.call('failed', { limit: 5 })).result).toEqual([])
  const stats = await call('GET', '/v1/stats', undefined, headers)
  expect((await ws.call('stats')).result).toEqual(stats.json)
})

it('performs every REST operation by its name, with the same checks and messages', async () => {
  const headers = { 'wakeful-owner': 'rest' }
  const ws = await connected(url, { headers })
  const key = { key: 'a/b', delay: '1h', target: EVENT }
  const first = (await ws.call('setByKey', key)).result
  expect((await ws.call('getByKey', { key: 'a/b' })).result).toEqual(first)
  expect((await ws.call('alarms', { limit: 1, status: 'active' })).result).toEqual({
    items: [first],
    next_cursor: null,
  })
  const edited = await ws.call('edit', { id: first.id, label: 'x', if_match: first.updated_at })
  expect(edited.result.label).toBe('x')
  const late = await ws.call('edit', { id: first.id, label: 'y', if_match: first.updated_at })
  expect(late.error.code).toBe('conflict')
  expect((await ws.call('pause', { id: first.id })).result.status).toBe('paused')
  expect((await ws.call('list')).result).toMatchObject([{ id: first.id, time_offset: 3600 }])
  expect((await ws.call('why', { id: first.id })).result.story).toHaveLength(2)
  expect((await ws.call('act', { action: 'cancel', filter: {} })).result.done).toBe(1)
  expect((await ws.call('preview', { delay: '1h' })).result.instants).toHaveLength(1)
  for (const [body, name, path] of [
    [{ target: EVENT }, 'set', '/v1/alarms'],
    [{ delay: '1h', target: EVENT, florp: 1 }, 'set', '/v1/alarms'],
    [{ fire_at: 'florp', target: EVENT }, 'set', '/v1/alarms'],
    [{ items: [{}] }, 'setMany', '/v1/alarms/batch'],
  ] as const) {
    const { error } = await ws.call(name, body)
    const rest = (await call('POST', path, body, headers)).json
    expect([error.code, error.detail]).toEqual([rest.code, rest.detail])
  }
  expect((await ws.call('stream')).error.detail).toContain('subscribe')
  expect((await ws.call('florp')).error.code).toBe('not_found')
  expect((await ws.call('constructor')).error.code).toBe('not_found')
  expect((await ws.call('get', { id: 'x', idd: 1 })).error.detail).toContain('Unknown field "idd"')
})

it('returns payloads byte for byte, in results and in events (promise: verbatim)', async () => {
  const ws = await connected(url, { headers: { 'wakeful-owner': 'verbatim' } })
  const payload = '{"z":9007199254740993, "a" : [1.0, 1e400, -0],\n "2":"\\u00e9é😀\\n", "k":1,"k":2}'
  await ws.call('subscribe')
  ws.say(`{"id":1,"call":"set","args":{"delay":"1ms","target":{"event":true},"payload":${payload}}}`)
  const set = await ws.until(({ id }) => id === 1)
  const { event } = await ws.until((message) => message.event?.type === 'timer.due_time_reached')
  expect(event.alarm_id).toBe(set.result.id)
  await ws.call('get', { id: set.result.id })
  await ws.call('history')
  expect(ws.received.filter((text) => text.includes(`"payload":${payload}`))).toHaveLength(4)
})

it('follows the log live, by type and alarm, and resumes from a cursor', async () => {
  const headers = { 'wakeful-owner': 'follow' }
  const [ws, other] = [await connected(url, { headers }), await connected(url)]
  await other.call('subscribe')
  expect((await ws.call('subscribe', { type: ['alarm.set'] })).error.detail).toMatch('no event type')
  const { subscription, cursor } = (await ws.call('subscribe')).result
  const append = async (n: number) => (await ws.call('append', { type: 'order.paid', data: { n } })).result
  const first = await append(1)
  expect((await ws.until((m) => m.subscription === subscription && m.event)).event).toEqual(first)
  const second = await append(2)
  await ws.until((m) => m.event?.id === second.id)
  expect((await ws.call('unsubscribe', { subscription })).result).toEqual({ unsubscribed: true })
  expect((await ws.call('unsubscribe', { subscription })).result).toEqual({ unsubscribed: false })
  const third = await append(3)
  await ws.call('append', { type: 'order.lost' })
  const again = await connected(url, { headers })
  const resumed = (await again.call('subscribe', { after: first.cursor, type: ['order.paid'] })).result
  await again.until((m) => m.event?.id === third.id)
  const numbers = () => again.received.flatMap((text) => JSON.parse(text).event?.data.n ?? [])
  expect(numbers()).toEqual([2, 3])
  expect(resumed.cursor).toBe(first.cursor)
  const start = await connected(url, { headers })
  await start.call('subscribe', { after: cursor })
  await start.until((m) => m.event?.type === 'order.lost')
  const oldest = await connected(url, { headers })
  await oldest.call('subscribe', { after: 'oldest', type: 'order.paid, order.lost' })
  await oldest.until((m) => m.event?.type === 'order.lost')
  expect(oldest.received.slice(1).map((text) => JSON.parse(text).event.id)).toEqual(
    start.received.slice(1).map((text) => JSON.parse(text).event.id),
  )
  expect((await ws.call('subscribe', { after: 'florp' })).error.code).toBe('invalid_request')
  const set = (await ws.call('set', { delay: '1h', target: EVENT })).result
  const one = await connected(url, { headers })
  await one.call('subscribe', { alarm_id: set.id })
  await append(4)
  await ws.call('pause', { id: set.id })
  expect((await one.until((m) => m.event)).event).toMatchObject({ type: 'alarm.paused', alarm_id: set.id })
  // The other owner received none of this.
  expect(other.received).toHaveLength(1)
})

it('answers every call about another owner’s alarm as if it did not exist', async () => {
  const theirs = { 'wakeful-tenant': 'acme', 'wakeful-owner': 'ann' }
  const set = (await call('POST', '/v1/alarms', { delay: '1h', target: EVENT, key: 'theirs' }, theirs)).json
  const before = (await call('GET', `/v1/alarms/${set.id}`, undefined, theirs)).text
  const unknown = '01a1e136-0000-7000-8000-000000000000'
  const needsId = Object.entries(operations).filter(
    ([name, operation]) => 'params' in operation && 'id' in operation.params.shape && !name.endsWith('Key'),
  )
  expect(needsId.length).toBeGreaterThan(9)
  for (const headers of [
    { 'wakeful-tenant': 'acme', 'wakeful-owner': 'bob' },
    { 'wakeful-tenant': 'other' },
  ]) {
    const ws = await connected(url, { headers })
    for (const [name] of needsId) {
      const args = name === 'edit' ? { label: 'mine' } : name === 'snooze' ? { delay: '1h' } : {}
      const [one, none] = [
        await ws.call(name, { ...args, id: set.id }),
        await ws.call(name, { ...args, id: unknown }),
      ]
      expect([name, one.error?.code]).toEqual([name, 'not_found'])
      expect(one.error).toEqual(JSON.parse(JSON.stringify(none.error).replaceAll(unknown, set.id)))
    }
    expect((await ws.call('getByKey', { key: 'theirs' })).error.code).toBe('not_found')
    for (const name of ['list', 'history', 'failed']) expect((await ws.call(name)).result).toEqual([])
    expect((await ws.call('count')).result).toBe(0)
    expect((await ws.call('alarms')).result.items).toEqual([])
    expect((await ws.call('events')).result.items).toEqual([])
    expect((await ws.call('reset')).result).toEqual({ cancelled: 0, firing: 0 })
    const before = ws.received.length
    await ws.call('subscribe', { alarm_id: set.id, after: 'oldest' })
    await ws.call('subscribe', { after: 'oldest' })
    await call('POST', `/v1/alarms/${set.id}/pause`, undefined, theirs)
    await call('POST', `/v1/alarms/${set.id}/resume`, undefined, theirs)
    await ws.call('count')
    expect(ws.received).toHaveLength(before + 3)
  }
  const after = JSON.parse((await call('GET', `/v1/alarms/${set.id}`, undefined, theirs)).text)
  expect({ ...after, updated_at: '' }).toEqual({ ...JSON.parse(before), updated_at: '' })
})

it('admits pages of its own origin only', async () => {
  const { host } = new URL(url)
  const own = await connected(url, { headers: { origin: `http://${host}` } })
  expect((await own.call('count')).result).toBe(0)
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
    expect(await refusal(url, { headers: { origin } })).toEqual({ status: 403, code: 'forbidden' })
  expect(await refusal(url, { headers: { host: 'evil.example' } })).toEqual({
    status: 403,
    code: 'forbidden',
  })
  expect(await refusal(url, { path: '/v1/florp' })).toEqual({ status: 404, code: 'not_found' })
  expect(await refusal(url, { path: '/v1/ws?florp=1' })).toEqual({ status: 400, code: 'invalid_request' })
  expect(await refusal(url, { path: '/v1/ws?ticket=florp' })).toEqual({ status: 401, code: 'unauthorized' })
})

it('answers HTTP without an upgrade, and ignores other protocols', async () => {
  expect((await call('GET', '/v1/ws')).status).toBe(404)
  const { request } = await import('node:http')
  const status = await new Promise((resolve) => {
    const headers = { connection: 'upgrade', upgrade: 'h2c' }
    request(`${url}/v1/stats`, { headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    }).end()
  })
  expect(status).toBe(200)
})

it('has logged no error', () => {
  expect(server.errors).toEqual([])
})
