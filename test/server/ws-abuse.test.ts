import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { openStream, StreamReader } from './stream-client.ts'
import { connected, refusal, until } from './ws-client.ts'

const server = await serving({ server: { live: { messageBytesMax: 64 * 1024, messagesPerSecond: 200 } } })
const { url } = server

it('answers malformed messages with an error, and continues', async () => {
  const ws = await connected(url)
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const malformed = [
    '',
    '{',
    'null',
    '[]',
    '"stats"',
    '1',
    '{}',
    '{"id":1}',
    '{"id":1,"call":1}',
    '{"id":1,"call":["stats"]}',
    '{"id":1,"call":"stats","args":[]}',
    '{"id":1,"call":"stats","args":null}',
    '{"id":1,"call":"stats","more":1}',
    '{"id":1,"id":2,"call":"stats"}',
    '{"id":null,"call":"stats"}',
    '{"id":1.5,"call":"stats"}',
    '{"id":9007199254740993,"call":"stats"}',
    '{"id":{},"call":"stats"}',
    `{"id":"${'x'.repeat(201)}","call":"stats"}`,
    '{"id":1,"call":"__proto__"}',
    '{"id":1,"call":"toString"}',
    '{"id":1,"call":"stats","__proto__":{"call":"count"}}',
    '{"id":1,"call":"get","args":{"__proto__":{"id":"x"}}}',
    '{"id":1,"call":"get","args":{"id":1}}',
    '{"id":1,"call":"get","args":{"id":{"toString":1}}}',
    '{"id":1,"call":"list","args":{"limit":"1"}}',
    '{"id":1,"call":"list","args":{"limit":0}}',
    '{"id":1,"call":"history","args":{"status":"florp"}}',
    '{"id":1,"call":"history","args":{"since":-1}}',
    '{"id":1,"call":"history","args":{"since":1e300}}',
    '{"id":1,"call":"history","args":{"since":"florp"}}',
    '{"id":1,"call":"alarms","args":{"limit":true}}',
    '{"id":1,"call":"alarms","args":{"cursor":{}}}',
    '{"id":1,"call":"subscribe","args":{"types":[]}}',
    '{"id":1,"call":"subscribe","args":{"types":[1]}}',
    '{"id":1,"call":"subscribe","args":{"after":1}}',
    '{"id":1,"call":"unsubscribe"}',
    '{"id":1,"call":"unsubscribe","args":{"subscription":1}}',
    '{"id":1,"call":"edit","args":{"id":"x","label":"y","if_match":1}}',
    '{"id":1,"call":"set","args":{"payload":1}}',
    `{"id":1,"call":"stats","args":${deep(10_000)}}`,
    `{"id":1,"call":"set","args":{"delay":"1h","target":{"event":true},"payload":${deep(5_000)}}}`,
    '['.repeat(60_000),
  ]
  for (const text of malformed) ws.say(text)
  await until(() => ws.received.length === malformed.length)
  for (const text of ws.received) {
    const { error } = JSON.parse(text)
    expect(['invalid_request', 'invalid_time', 'not_found']).toContain(error.code)
    expect(text).not.toMatch(/ at .*\.[jt]s|node:|internal/)
    expect(text.length).toBeLessThan(2_000)
    expect(text).not.toMatch('the body')
  }
  expect((await ws.call('count')).result).toBe(0)
  expect(({} as { call?: string }).call).toBeUndefined()
})

it('closes on binary messages, on large ones, and on invalid UTF-8', async () => {
  for (const [message, code] of [
    [Buffer.from('{"id":1,"call":"stats"}'), 1003],
    ['x'.repeat(64 * 1024 + 1), 1009],
  ] as const) {
    const ws = await connected(url)
    ws.say(message)
    expect((await ws.closed).code).toBe(code)
  }
  const ws = await connected(url)
  ws.socket.send(Buffer.from([0xff, 0xfe, 0xfd]), { binary: false })
  expect((await ws.closed).code).toBe(1007)
})

it('rejects messages beyond the rate, then closes', async () => {
  const slow = await serving({ server: { live: { messagesPerSecond: 10 } } })
  const ws = await connected(slow.url)
  for (let n = 0; n < 15; n++) ws.say(`{"id":${n},"call":"count"}`)
  await until(() => ws.received.length === 15)
  const refused = ws.received.map((text) => JSON.parse(text)).filter(({ error }) => error !== undefined)
  expect(refused).toHaveLength(5)
  expect(refused[0].error).toMatchObject({ code: 'rate_limited', retry_after_ms: expect.any(Number) })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect((await ws.call('count')).result).toBe(0)
  for (let n = 0; n < 10_000; n++) ws.say('florp')
  expect(await ws.closed).toEqual({ code: 1008, reason: 'too many messages' })
  expect(ws.received.length).toBeLessThan(60)
  // Other connections are not affected.
  expect((await (await connected(slow.url)).call('count')).result).toBe(0)
})

it('closes connections that do not answer a ping', async () => {
  const quick = await serving({ server: { live: { heartbeatMs: 50 } } })
  const alive = await connected(quick.url)
  const dead = await connected(quick.url)
  dead.socket.removeAllListeners('ping')
  // A peer that neither reads nor sends anything more.
  const silent = new WebSocket(quick.url.replace('http', 'ws').concat('/v1/ws'), { autoPong: false })
  const closed = new Promise<number>((resolve) => silent.once('close', resolve))
  expect(await closed).toBe(1006)
  expect((await alive.call('count')).result).toBe(0)
})

it('accepts a limited number of connections, and closes all of them in order', async () => {
  const small = await serving({ server: { live: { connectionsMax: 3 }, drainMs: 5_000 } })
  const open = await Promise.all([1, 2, 3].map(() => connected(small.url)))
  expect(await refusal(small.url)).toEqual({ status: 429, code: 'rate_limited' })
  open[0]!.socket.close()
  await open[0]!.closed
  const last = await connected(small.url)
  // A call that waits for a wake gets no answer, and does not delay the close.
  last.say('{"id":1,"call":"inbox","args":{"wait":"30s"}}')
  await last.call('subscribe')
  await small.close()
  for (const ws of [open[1]!, open[2]!, last]) expect((await ws.closed).code).toBe(1001)
  expect(small.errors).toEqual([])
})

it('limits one tenant to half of the connections', async () => {
  const small = await serving({ server: { live: { connectionsMax: 5 } } })
  const { keys } = keysOf(small.wakeful)
  const of = async (tenant: string) => {
    const { key } = await keys(tenant, 'ann', 'read')
    return { headers: { authorization: `Bearer ${key}` } }
  }
  const [acme, umbrella] = [await of('acme'), await of('umbrella')]
  const first = await connected(small.url, acme)
  const stream = openStream(`${small.url}/v1/events/stream`, new StreamReader(), acme.headers)
  expect(await stream.opened).toBe(200)
  await connected(small.url, acme)
  expect(await refusal(small.url, acme)).toEqual({ status: 429, code: 'rate_limited' })
  const refused = await fetch(`${small.url}/v1/events/stream`, acme)
  expect(refused.status).toBe(429)
  expect(await refused.text()).toContain('Your tenant already has 3 live connections')
  for (const _ of [1, 2]) await connected(small.url, umbrella)
  first.socket.close()
  stream.cut()
  await until(() =>
    connected(small.url, acme).then(
      () => true,
      () => false,
    ),
  )
})

it('runs many calls at the same time, and loses none', async () => {
  const ws = await connected(url)
  ws.say('{"id":"slow","call":"inbox","args":{"wait":"500ms"}}')
  const answers = await Promise.all(Array.from({ length: 100 }, () => ws.call('stats')))
  expect(answers.every(({ result }) => result.total === 0)).toBe(true)
  expect((await ws.until(({ id }) => id === 'slow')).result).toEqual({ items: [] })
  const names = []
  for (let n = 0; n < 16; n++) names.push((await ws.call('subscribe')).result.subscription)
  expect(new Set(names).size).toBe(16)
  expect((await ws.call('subscribe')).error.code).toBe('invalid_request')
})

it('counts each further subscription as a connection', async () => {
  const small = await serving({ server: { live: { connectionsMax: 6 } } })
  const ws = await connected(small.url)
  const names: string[] = []
  for (let n = 0; n < 6; n++) names.push((await ws.call('subscribe')).result.subscription)
  expect((await ws.call('subscribe')).error.code).toBe('rate_limited')
  expect(await refusal(small.url)).toMatchObject({ status: 429 })
  await ws.call('unsubscribe', { subscription: names[3] })
  const second = await connected(small.url)
  expect((await ws.call('subscribe')).error.code).toBe('rate_limited')
  ws.socket.terminate()
  await ws.closed
  for (let n = 0; n < 6; n++) await until(async () => (await second.call('subscribe')).error === undefined)
})

it('limits subscriptions, also those requested at the same time', async () => {
  const ws = await connected(url)
  for (let n = 0; n < 60; n++) ws.say(JSON.stringify({ id: n, call: 'subscribe' }))
  await until(() => ws.received.length === 60)
  const answers = ws.received.map((text) => JSON.parse(text))
  expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(16)
  expect((await ws.call('unsubscribe', { subscription: 's1' })).result).toEqual({ unsubscribed: true })
  expect((await ws.call('subscribe')).result.subscription).toMatch(/^s\d+$/)
})

it('survives clients that disconnect at any point', async () => {
  const { port } = new URL(url)
  const handshake =
    'GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  for (let cut = 10; cut <= handshake.length; cut += 15) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(handshake.slice(0, cut))
    setImmediate(() => socket.resetAndDestroy())
  }
  for (const wrong of [
    handshake.replace('13', '1'),
    handshake.replace('dGhl', '!'),
    `${handshake}${'\xff'.repeat(200)}`,
  ]) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.end(wrong)
    await new Promise((resolve) => socket.on('close', resolve).resume())
  }
  const ws = await Promise.all(Array.from({ length: 20 }, () => connected(url)))
  for (const each of ws) {
    each.say('{"id":1,"call":"subscribe"}')
    each.say('{"id":1,"call":"inbox","args":{"wait":"10s"}}')
    each.socket.terminate()
  }
  expect((await (await connected(url)).call('count')).result).toBe(0)
  expect(server.errors).toEqual([])
})
