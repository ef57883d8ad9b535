import { expect, it } from 'vitest'
import { buildApp } from '../../src/server/rest/app.ts'
import { serving } from './harness.ts'

const APP = 'https://app.example.com'
const FOREIGN = 'https://evil.example'
const { call } = await serving({ server: { allowedOrigins: [APP] } })
const closed = await serving()

const preflight = (origin: string, more: Record<string, string> = {}) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization, content-type',
  ...more,
})

it('answers the preflight of allowed pages', async () => {
  const answer = await call('OPTIONS', '/v1/alarms', undefined, preflight(APP))
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': APP,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': expect.stringContaining(
      'authorization, content-type, idempotency-key, if-match',
    ),
    'access-control-max-age': '600',
    vary: 'origin',
  })
  expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  expect(answer.headers.has('access-control-allow-private-network')).toBe(false)
  const near = preflight(APP, { 'access-control-request-private-network': 'true' })
  const agreed = await call('OPTIONS', '/v1/alarms/x', undefined, near)
  expect(agreed.headers.get('access-control-allow-private-network')).toBe('true')
})

it.for([FOREIGN, 'null', `${APP}.evil.example`, `${APP}:8080`, 'http://app.example.com', '*'])(
  'rejects pages of %s, and returns nothing to them',
  async (origin) => {
    for (const [server, status] of [
      [call, 403],
      [closed.call, 405],
    ] as const) {
      const asked = await server('OPTIONS', '/v1/alarms', undefined, preflight(origin))
      expect(asked.status).toBe(status)
      const sent = await server('POST', '/v1/alarms', { delay: '1h', target: { event: true } }, { origin })
      expect([sent.status, sent.json.code]).toEqual([403, 'forbidden'])
      for (const { headers } of [asked, sent])
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  },
)

it('names the origin in answers and errors, with the headers a page may read', async () => {
  const set = await call('POST', '/v1/alarms', { delay: '1h', target: { event: true } }, { origin: APP })
  const none = await call('GET', '/v1/alarms/none', undefined, { origin: APP })
  const spec = await call('GET', '/openapi.json', undefined, { origin: APP })
  expect([set.status, none.status, spec.status]).toEqual([201, 404, 200])
  for (const { headers } of [set, none, spec]) {
    expect(headers.get('access-control-allow-origin')).toBe(APP)
    expect(headers.get('access-control-expose-headers')).toBe('etag, retry-after, x-request-id')
    expect(headers.get('vary')).toBe('origin')
  }
  expect(set.headers.get('etag')).not.toBeNull()
})

it('adds nothing but Vary for callers that are not pages', async () => {
  const plain = await call('GET', '/v1/stats')
  expect(plain.headers.get('vary')).toBe('origin')
  expect(plain.headers.has('access-control-allow-origin')).toBe(false)
  expect((await closed.call('GET', '/v1/stats')).headers.has('vary')).toBe(false)
  // Without the headers of a preflight, OPTIONS is an unsupported method like any other.
  expect((await call('OPTIONS', '/v1/alarms')).status).toBe(405)
})

it('needs no key for a preflight', async () => {
  const app = buildApp({
    authenticator: {} as never,
    allowedOrigins: new Set([APP]),
    calls: {} as never,
    pages: {} as never,
    bodyBytesMax: 1,
    onAnswered: () => {},
    clock: { monotonic: () => 0, now: () => 0 },
  })
  const ask = (origin: string) => app.request('/v1/alarms', { method: 'OPTIONS', headers: preflight(origin) })
  expect((await ask(APP)).status).toBe(204)
  expect((await ask(FOREIGN)).status).toBe(403)
  const refused = await app.request('/v1/alarms', { headers: { origin: APP } })
  expect(refused.headers.get('access-control-allow-origin')).toBe(APP)
})
