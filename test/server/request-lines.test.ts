import { expect, it } from 'vitest'
import { serving } from './harness.ts'
import { raw } from './raw.ts'

const { call, url } = await serving()

it('ignores the host of an absolute target, and uses the Host header', async () => {
  const at = (target: string, host: string) =>
    raw(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  expect((await at('http://evil.example/v1/stats', 'evil.example')).status).toBe(403)
  for (const target of ['http://evil.example/v1/stats', 'https://127.0.0.1/v1/stats', 'file:///etc/passwd'])
    expect((await at(target, '127.0.0.1')).status).toBeLessThan(500)
})

it.each(['OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'LINK', 'HEAD', 'PUT', 'CONNECT'])(
  'rejects %s',
  async (method) => {
    const { status, json, text } = await raw(
      url,
      `${method} /v1/stats HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    )
    if (method === 'HEAD') expect([status, text.split('\r\n\r\n')[1]]).toEqual([200, ''])
    else if (method === 'CONNECT') expect([status, json.code]).toEqual([405, 'invalid_request'])
    else {
      expect([method, status, json?.code]).toEqual([method, 405, 'not_found'])
      expect(text).toMatch(/\r\nallow: GET\r\n/i)
    }
  },
)

it('claims no wake and no ticket for a HEAD request', async () => {
  for (const path of ['/v1/inbox', '/v1/events/stream?ticket=wt_x']) {
    const { status, text } = await raw(
      url,
      `HEAD ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    )
    expect([path, status, text.split('\r\n\r\n')[1]]).toEqual([path, 405, ''])
  }
})

it('answers pipelined requests in order, each after the writes before it', async () => {
  const get = 'GET /v1/alarms/by-key/ahead HTTP/1.1\r\nHost: 127.0.0.1\r\nWakeful-Owner: ahead\r\n\r\n'
  const body = '{"delay":"1h","target":{"event":true}}'
  const put = `PUT /v1/alarms/by-key/ahead HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nWakeful-Owner: ahead\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const last = put.replace('\r\n', '\r\nConnection: close\r\n')
  const { text } = await raw(url, `${get}${put}${get}${last}`)
  expect([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual([
    '404',
    '201',
    '200',
    '200',
  ])
})

it('answers bytes that are not a request after the requests before them', async () => {
  const body = '{"delay":"1h","target":{"event":true}}'
  const post = `POST /v1/alarms HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nWakeful-Owner: ahead\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`
  for (const [behind, status] of [
    ['GARBAGE\r\n\r\n', '400'],
    [`GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, '431'],
    ['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', '405'],
    [upgrade('/v1/ws'), '101'],
    [upgrade('/v1/other'), '404'],
  ] as const) {
    const { text } = await raw(url, `${post}${post}${behind}`)
    const answered = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => code)
    expect(answered).toEqual(['201', '201', status])
  }
})

it('takes the method from the request line only', async () => {
  for (const header of ['x-http-method-override', 'x-method-override', 'x-http-method'])
    expect((await call('GET', '/v1/keys?_method=DELETE', undefined, { [header]: 'DELETE' })).status).toBe(400)
  const { json } = await call('GET', '/v1/stats', undefined, { 'x-http-method-override': 'DELETE' })
  expect(json.total).toBe(0)
})

it('answers health checks of HTTP/1.0 without a Host, and nothing else without one', async () => {
  const check = (line: string) => raw(url, `${line}\r\n\r\n`)
  for (const line of [
    'GET /healthz HTTP/1.0',
    'HEAD /healthz HTTP/1.0',
    'OPTIONS /healthz HTTP/1.0',
    'GET /healthz?x=1 HTTP/1.0',
  ])
    expect([line, (await check(line)).status]).toEqual([line, 200])
  for (const line of ['GET /readyz HTTP/1.0', 'OPTIONS /readyz HTTP/1.0']) {
    const { json } = await check(line)
    expect([line, typeof json.checks.store.ok]).toEqual([line, 'boolean'])
  }
  for (const line of ['GET /healthz HTTP/1.1', 'GET /v1/stats HTTP/1.0', 'GET /healthzz HTTP/1.0'])
    expect([line, (await check(line)).status]).toEqual([line, 400])
})
