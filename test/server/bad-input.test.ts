import { afterAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../postgres/database.ts'
import { type Called, serving } from './harness.ts'
import { opened, raw } from './raw.ts'

const server = await serving()
const database = testDatabase()
const { call, url } = server
const MIB = 1_048_576
const ALARM = '{"delay":"1h","target":{"event":true}}'
const HEAD = `Host: 127.0.0.1\r\nContent-Type: application/json\r\n`
const post = (body: string, head = '') =>
  `POST /v1/alarms HTTP/1.1\r\n${HEAD}${head}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Whatever the server was sent: it has stored nothing, logged no error, and still answers. */
afterAll(async () => {
  const { json } = await call('GET', '/v1/stats')
  expect(json.total).toBe(0)
  expect(server.errors).toEqual([])
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

function assertProblem({ status, json, headers, text }: Called, expected: number, code: string): void {
  expect([status, json?.code], text.slice(0, 300)).toEqual([expected, code])
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(json).toMatchObject({
    type: `urn:wakeful:problem:${code}`,
    status: expected,
    request_id: expect.any(String),
  })
  expect(text).not.toMatch(/\n\s+at |node_modules|\.ts:\d/)
}

it.each([
  ['nothing', ''],
  ['half of it', '{"delay":"1h"'],
  ['a comma too many', '{"delay":"1h",}'],
  ['single quotes', "{'delay':'1h'}"],
  ['a list', '[]'],
  ['a text', '"delay"'],
  ['null', 'null'],
  ['a number', '1e400'],
  ['two of them', `${ALARM}${ALARM}`],
  ['NaN', '{"delay":NaN}'],
  ['a comment', '{/*x*/"delay":"1h"}'],
  ['a control character', '{"delay":"1h\u0001"}'],
  ['10,000 brackets', '['.repeat(10_000)],
  ['10,000 levels of a payload', `{"delay":"1h","payload":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['10,000 levels of a target', `{"delay":"1h","target":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_001)}`],
  ['500,000 levels', '{"a":'.repeat(190_000)],
  ['__proto__', '{"__proto__":{"polluted":1},"delay":"1h","target":{"event":true}}'],
  ['constructor', '{"constructor":{"prototype":{"polluted":1}},"delay":"1h","target":{"event":true}}'],
  ['__proto__ in the target', '{"delay":"1h","target":{"__proto__":{"polluted":1},"event":true}}'],
  ['a key twice', '{"delay":"1h","delay":"2h","target":{"event":true}}'],
  ['a key twice, once escaped', '{"delay":"1h","\\u0064elay":"2h","target":{"event":true}}'],
  ['a key twice in a target', '{"delay":"1h","target":{"event":true,"event":true}}'],
  ['unknown fields', '{"delay":"1h","target":{"event":true},"colour":1}'],
  ['NUL', '{"delay":"1h","target":{"event":true},"label":"a\\u0000b"}'],
  ['half a surrogate pair', '{"delay":"1h","target":{"event":true},"label":"\\ud800"}'],
  [
    'half a surrogate pair in a payload',
    '{"delay":"1h","target":{"event":true},"payload":"\ud800"}'.toWellFormed().replace('\ufffd', '\u0000'),
  ],
])('refuses %s as a body', async (_, body) => {
  assertProblem(await call('POST', '/v1/alarms', body), 400, 'invalid_request')
})

it('ignores a byte order mark', async () => {
  expect((await call('POST', '/v1/preview', `\ufeff${'{"delay":"1h"}'}`)).status).toBe(200)
})

it('names unknown fields, at any depth', async () => {
  const detail = async (body: unknown) => (await call('POST', '/v1/alarms', body)).json.detail as string
  expect(await detail({ delay: '1h', colour: 1, shape: 2 })).toMatch(
    'Unknown field "colour". Unknown field "shape". Known: `fire_at`',
  )
  expect(await detail({ cron_expr: '@daily', dst: { hole: 1 } })).toMatch('Unknown field "hole"')
  for (const [target, known] of [
    [{ event: true, x: 1 }, 'Unknown field "x". Known: `event`'],
    [{ inbox: true, x: 1 }, 'Unknown field "x". Known: `inbox`'],
    [{ default: true, x: 1 }, 'Unknown field "x". Known: `default`'],
    [{ handler: 'h', x: 1, webhok: 2 }, 'Unknown field "x". Known: `handler`, `pool`'],
    [{ webhook: 'https://a.example/', event: true }, 'Unknown field "webhook". Known: `event`'],
    [{ x: 1 }, 'kind of target'],
  ] as const)
    for (const field of ['target', 'on_failure'])
      expect(await detail({ delay: '1h', target: 'inbox', [field]: target })).toContain(known)
  expect(await detail('{"delay":"1h","__proto__":{}}')).toMatch('Unknown field "__proto__"')
  expect((await call('GET', '/v1/alarms?__proto__=1')).json.detail).toMatch('Unknown field "__proto__"')
})

it('rejects invalid UTF-8', async () => {
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]])
    assertProblem(
      await call(
        'POST',
        '/v1/alarms',
        Buffer.concat([Buffer.from('{"delay":"'), Buffer.from(bytes), Buffer.from('"}')]),
      ),
      400,
      'invalid_request',
    )
  assertProblem(await call('POST', '/v1/alarms', Buffer.from(ALARM, 'utf16le')), 400, 'invalid_request')
})

it.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'text/json',
  'application/json, text/plain',
  ';',
])('refuses the content type %s', async (type) => {
  assertProblem(await call('POST', '/v1/alarms', ALARM, { 'content-type': type }), 400, 'invalid_request')
})

it('rejects large bodies, with or without a declared length', async () => {
  const large = `{"delay":"1h","target":{"event":true},"payload":"${'x'.repeat(300 * 1024)}"}`
  assertProblem(await call('POST', '/v1/alarms', large), 413, 'payload_too_large')
  assertProblem(await call('POST', '/v1/alarms', 'x'.repeat(MIB + 1)), 413, 'payload_too_large')
  assertProblem(await call('POST', '/v1/alarms', ' '.repeat(MIB)), 400, 'invalid_request')
})

it('reads no more of 100 MB than the limit, declared or chunked, and disconnects', async () => {
  const before = process.memoryUsage().rss
  for (const head of ['Content-Length: 104857600', 'Transfer-Encoding: chunked']) {
    const socket = await opened(url)
    socket.on('error', () => {})
    let [answer, sent, isOver] = ['', 0, false]
    socket.on('data', (data) => {
      answer += data
    })
    socket.once('close', () => {
      isOver = true
    })
    socket.write(`POST /v1/alarms HTTP/1.1\r\n${HEAD}${head}\r\n\r\n`)
    const block = Buffer.alloc(65_536, 'x')
    const piece = head.startsWith('C')
      ? block
      : Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')])
    for (; sent < 100 * MIB && !isOver; sent += block.length)
      await new Promise<void>((resolve) =>
        socket.write(piece, (failed) => {
          if (failed) isOver = true
          resolve()
        }),
      )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('"code":"payload_too_large"')
    expect(sent).toBeLessThan(50 * MIB)
    socket.destroy()
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB)
})

it('reads a chunked body, and disconnects clients that send very many tiny chunks', async () => {
  const inPieces = (body: string) =>
    `POST /v1/alarms HTTP/1.1\r\n${HEAD}Wakeful-Owner: pieces\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`
  const small = await raw(url, inPieces(ALARM))
  expect([small.status, small.json.status]).toEqual([201, 'active'])
  const { text } = await raw(url, inPieces(ALARM.padEnd(5_000)))
  expect(text).toBe('')
})

it('rejects invalid headers without repeating them', async () => {
  for (const header of [
    'X-A: b\u0000c',
    'X A: b',
    'X-A : b',
    ': b',
    'X-A: b\rX-B: c',
    'X-Ä: b',
    `X-A: ${'x'.repeat(40_000)}`,
  ]) {
    const { status, json, text } = await raw(url, post(ALARM, `${header}\r\n`))
    expect([400, 431], header.slice(0, 20)).toContain(status)
    expect(json.code).toBe('invalid_request')
    expect(text).toMatch(/connection: close/i)
    expect(text.length).toBeLessThan(1_000)
  }
  const split = await call('GET', '/v1/stats', undefined, { 'x-request-id': 'a%0d%0aset-cookie:b' })
  expect(split.headers.get('set-cookie')).toBeNull()
  expect(split.headers.get('x-request-id')).not.toContain('%0d')
  const owner = await call('GET', '/v1/stats', undefined, { 'wakeful-owner': '%0d%0a%00' })
  assertProblem(owner, 400, 'invalid_request')
})

it('reads a request in one way only: two lengths are rejected', async () => {
  const body = `${ALARM}GET /v1/stats HTTP/1.1\r\n\r\n`
  for (const head of [
    `Content-Length: 5\r\nContent-Length: ${body.length}`,
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding : chunked',
    'Content-Length: +5',
    'Content-Length: 5, 5',
    'Content-Length: -1',
    'Content-Length: 0x5',
    'Content-Length: 99999999999999999999999',
  ]) {
    const { status, text } = await raw(url, `POST /v1/alarms HTTP/1.1\r\n${HEAD}${head}\r\n\r\n${body}`)
    expect([head, status]).toEqual([head, 400])
    expect(text.split('HTTP/1.1 ').length, `${head} is answered once`).toBe(2)
  }
})

it.each([
  'GET /v1/stats HTTP/9.9\r\n\r\n',
  'GET /v1/stats\r\n\r\n',
  'GET  /v1/stats HTTP/1.1\r\nHost: x\r\n\r\n',
  'get /v1/stats HTTP/1.1\r\nHost: x\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET /v1/stats HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n',
  '\u0000'.repeat(1_000),
  'x'.repeat(100_000),
])('answers bytes that are not HTTP with a problem, or disconnects: %j', async (bytes) => {
  const { status, json } = await raw(url, bytes)
  expect([0, 400, 403, 404, 431]).toContain(status)
  if (status !== 0) expect(json.code).toMatch(/^(?:invalid_request|forbidden|not_found)$/)
})

it('rejects garbage after a request, and continues', async () => {
  const { text } = await raw(url, `GET /v1/stats HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\u0001garbage\r\n\r\n`)
  expect(text).toMatch(/HTTP\/1\.1 400 /)
  expect((await call('GET', '/v1/stats')).status).toBe(200)
})

it.each([
  ['/v1/alarms/%00', 400],
  ['/v1/alarms/%2e%2e/%2e%2e/%2e%2e/etc/passwd', 404],
  ['/v1/keys/..%2f..%2f', 405],
  ['/v1/alarms/%c0%ae%c0%ae', 400],
  ['/v1/alarms/%ff%fe', 400],
  ['/v1/alarms/%', 400],
  ['/v1/alarms/%zz?limit=1', 400],
  ['/v1/alarms/%25', 404],
  ['/v1/tenants/%FF', 400],
  ['/v1//alarms', 404],
  ['//v1/stats', 404],
  ['/v1/stats/', 404],
  ['/V1/STATS', 404],
  ['/v1/stats;a=b', 404],
  ['/v1/alarms/%2f%2f%2f', 404],
  [`/v1/alarms/${'a'.repeat(10_000)}`, 400],
  ['/v1/alarms?cursor=%00', 400],
  ['/v1/alarms?cursor=nonsense', 400],
  ['/v1/alarms?limit=1e2&limit=2', 400],
  ['/v1/alarms?%', 400],
  ['*', 400],
  ['/v1\\stats', 400],
])('answers the path %s with a problem', async (path, expected) => {
  const { status, json } = await raw(
    url,
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
  )
  expect([status, json?.status]).toEqual([expected, expected])
})

const placeOf = (text: string) => encodeURIComponent(btoa(text))
const PAST_THE_LAST = ['9223372036854775808', '9999999999999999999', '-9223372036854775809', '-1']

describe.each(['sqlite', 'postgres'] as const)('cursors that were tampered with, on %s', (kind) => {
  it('are rejected, and the last valid position is accepted', async () => {
    const on = kind === 'sqlite' ? server : await serving({ store: database.url })
    const statuses = async (paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => [path, (await on.call('GET', path)).status]))
    const refused = [
      ...PAST_THE_LAST.flatMap((row) => [
        `/v1/alarms?cursor=${placeOf(`list:${row}`)}`,
        `/v1/alarms?order=due&cursor=${placeOf(`list:${row}:0`)}`,
        `/v1/events?after=${placeOf(`events:${row}`)}`,
        `/v1/events/stream?after=${placeOf(`events:${row}`)}`,
      ]),
      `/v1/alarms?order=due&cursor=${placeOf('list:1:9223372036854775807')}`,
      `/v1/alarms?order=due&cursor=${placeOf('list:1:-9223372036854775808')}`,
      `/v1/alarms?order=due&cursor=${placeOf('list:1')}`,
      `/v1/alarms?cursor=${placeOf('list:1:2')}`,
      `/v1/alarms?cursor=${placeOf('list:1:2:3')}`,
      `/v1/alarms?cursor=${placeOf('list')}`,
      `/v1/events?after=${placeOf('events:1:2')}`,
    ]
    expect(await statuses(refused)).toEqual(refused.map((path) => [path, 400]))
    const accepted = ['0', '9007199254740993', '9223372036854775807'].flatMap((row) => [
      `/v1/alarms?cursor=${placeOf(`list:${row}`)}`,
      `/v1/alarms?order=due&cursor=${placeOf(`list:${row}:${Number.MAX_SAFE_INTEGER}`)}`,
      `/v1/events?after=${placeOf(`events:${row}`)}`,
    ])
    expect(await statuses(accepted)).toEqual(accepted.map((path) => [path, 200]))
    if (on !== server) await on.close()
  })
})

it('requires a valid Host', async () => {
  for (const host of ['', 'Host: \r\n', 'Host: a b\r\n', 'Host: 127.0.0.1/x\r\n', 'Host: [::1\r\n']) {
    const { status, json } = await raw(url, `GET /v1/stats HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    expect([host, [400, 403].includes(status), typeof json?.code]).toEqual([host, true, 'string'])
  }
})

it.for(['Host', 'Authorization', 'Wakeful-Tenant', 'wakeful-owner'])(
  'rejects a request with two headers %s',
  async (name) => {
    const value = name === 'Host' ? '127.0.0.1' : 'acme'
    const twice = `${name === 'Host' ? '' : 'Host: 127.0.0.1\r\n'}${name}: ${value}\r\n${name.toUpperCase()}: evil\r\n`
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
    for (const request of [
      `GET /v1/stats HTTP/1.1\r\n${twice}`,
      `POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n${twice}`,
      `GET /v1/ws HTTP/1.1\r\n${twice}${upgrade}`,
    ]) {
      const { status, json } = await raw(url, `${request}\r\n`)
      expect([status, json?.code, json?.detail]).toEqual([
        400,
        'invalid_request',
        `The request has ${name.toUpperCase()} twice. Send it once.`,
      ])
    }
  },
)

it('rejects compressed bodies', async () => {
  for (const path of ['/v1/alarms', '/mcp']) {
    for (const encoding of ['gzip', 'br', 'identity, gzip', 'florp']) {
      const packed = await call('POST', path, ALARM, { 'content-encoding': encoding })
      assertProblem(packed, 415, 'invalid_request')
      expect(packed.headers.get('accept-encoding')).toBe('identity')
    }
  }
  // This one is read and rejected.
  assertProblem(
    await call('POST', '/v1/alarms', '[]', { 'content-encoding': 'Identity' }),
    400,
    'invalid_request',
  )
})

it('rejects unsupported expectations and invalid handshakes with a problem', async () => {
  const request = (line: string, headers: string) => raw(url, `${line}\r\nHost: 127.0.0.1\r\n${headers}\r\n`)
  const expected = await request('GET /v1/stats HTTP/1.1', 'Expect: florp\r\n')
  expect([expected.status, expected.json]).toMatchObject([417, { status: 417, code: 'invalid_request' }])
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  for (const [line, headers, status] of [
    ['GET /v1/ws HTTP/1.1', upgrade, 400],
    ['GET /v1/ws HTTP/1.1', `${upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: florp\r\n`, 400],
    ['GET /v1/ws HTTP/1.1', `${upgrade}${key}Sec-WebSocket-Version: 7\r\n`, 400],
    ['POST /v1/ws HTTP/1.1', `${upgrade}${key}Sec-WebSocket-Version: 13\r\n`, 405],
  ] as const) {
    const refused = await request(line, headers)
    expect([refused.status, refused.json]).toMatchObject([status, { status, code: 'invalid_request' }])
    expect(refused.text).toMatch(/\r\nSec-WebSocket-Version: 13\r\n/)
  }
})
