import { expect, it } from 'vitest'
import { caller, serving } from './harness.ts'
import { refusal, until } from './ws-client.ts'

const server = await serving()
const ALARM = { delay: '1h', target: { event: true } }
const keyed = (key: string, more: Record<string, string> = {}) =>
  caller(server.url, { authorization: `Bearer ${key}`, ...more })

it('needs no key on this machine until there is one, and from then on for everything', async () => {
  expect((await server.call('GET', '/v1/stats')).status).toBe(200)
  const made = await server.call('POST', '/v1/keys', { tenant: '*', rights: 'admin', label: 'operator' })
  expect(made.status).toBe(201)
  expect(made.json).toMatchObject({ tenant: '*', owner: null, rights: 'admin', revoked_at: null })
  expect(made.json.key).toMatch(/^wk_[0-9a-f]{16}_[\w-]{43}$/)
  await until(async () => (await server.call('GET', '/v1/stats')).status === 401)
  const refused = await server.call('GET', '/v1/stats')
  expect(refused.headers.get('www-authenticate')).toMatch('Bearer')
  expect(refused.json).toMatchObject({
    code: 'unauthorized',
    detail: expect.stringContaining('wakeful keys create'),
  })

  const operator = keyed(made.json.key)
  expect((await operator('GET', '/v1/stats')).status).toBe(200)
  expect((await keyed(`${made.json.key.slice(0, -1)}x`)('GET', '/v1/stats')).status).toBe(401)
  expect((await keyed('wk_nonsense')('GET', '/v1/stats')).status).toBe(401)
  expect((await server.call('GET', '/v1/stats', undefined, { authorization: 'Basic x' })).status).toBe(401)

  await tenants(operator)
  await rotation(operator)
})

async function tenants(operator: ReturnType<typeof keyed>) {
  const make = async (body: object, by = operator) => (await by('POST', '/v1/keys', body)).json
  const acme = keyed((await make({ tenant: 'acme', rights: 'admin' })).key)
  const ann = keyed((await make({ owner: 'did:matrix:ann:f00' }, acme)).key)
  const reader = keyed((await make({ owner: 'did:matrix:ann:f00', rights: 'read' }, acme)).key)

  const audited = server.lines.map((line) => JSON.parse(line)).filter(({ act }) => act === 'key_created')
  // The operator made the first for acme, and acme's admin the others.
  expect(audited.slice(-3).map(({ tenant }) => tenant)).toEqual(['acme', 'acme', 'acme'])
  const set = await ann('POST', '/v1/alarms', ALARM)
  expect(set.status).toBe(201)
  expect((await reader('GET', `/v1/alarms/${set.json.id}`)).status).toBe(200)
  expect((await reader('DELETE', `/v1/alarms/${set.json.id}`)).json.code).toBe('forbidden')
  // With a platform's key the request names the owner; without a name it is the owner ''. An admin finds an alarm by its id.
  const platform = keyed((await make({ rights: 'write' }, acme)).key)
  expect((await platform('GET', `/v1/alarms/${set.json.id}`)).status).toBe(404)
  expect((await acme('GET', `/v1/alarms/${set.json.id}`)).json.owner).toBe('did:matrix:ann:f00')
  expect((await acme('DELETE', `/v1/alarms/${set.json.id}`)).status).toBe(404)
  const asAnn = await acme('GET', `/v1/alarms/${set.json.id}`, undefined, {
    'wakeful-owner': 'did:matrix:ann:f00',
  })
  expect(asAnn.json.id).toBe(set.json.id)
  expect((await ann('GET', '/v1/stats', undefined, { 'wakeful-owner': 'bob' })).json.code).toBe('forbidden')
  expect((await acme('GET', '/v1/stats', undefined, { 'wakeful-tenant': 'other' })).json.code).toBe(
    'forbidden',
  )
  const every = await operator('GET', '/v1/stats', undefined, { 'wakeful-tenant': '*' })
  expect([every.status, every.json.code]).toEqual([400, 'invalid_request'])
  expect(every.json.detail).toContain('must name one tenant')

  // An admin of one tenant manages the keys of that tenant only, and grants no more rights than it has.
  expect((await acme('POST', '/v1/keys', { tenant: 'other' })).json.code).toBe('forbidden')
  expect((await acme('POST', '/v1/keys', { tenant: '*' })).json.code).toBe('forbidden')
  expect((await ann('POST', '/v1/keys', {})).json.code).toBe('forbidden')
  const all = (await operator('GET', '/v1/keys')).json.items
  const theirs = (await acme('GET', '/v1/keys')).json.items
  expect(new Set(theirs.map(({ tenant }: { tenant: string }) => tenant))).toEqual(new Set(['acme']))
  expect(all.length).toBeGreaterThan(theirs.length)
  expect(JSON.stringify(all)).not.toMatch(/wk_|hash/)
  const foreign = all.find(({ tenant }: { tenant: string }) => tenant === '*').id
  const [unknown, notMine] = [
    await acme('DELETE', '/v1/keys/0000000000000000'),
    await acme('DELETE', `/v1/keys/${foreign}`),
  ]
  expect([unknown.status, notMine.status]).toEqual([404, 404])
}

async function rotation(operator: ReturnType<typeof keyed>) {
  const { json: made } = await operator('POST', '/v1/keys', { tenant: 'spin', owner: 'o' })
  const first = keyed(made.key)
  expect((await first('GET', '/v1/stats')).status).toBe(200)
  const rotated = (await operator('POST', `/v1/keys/${made.id}/rotate`, { grace: '1h' })).json
  expect(rotated.id).toBe(made.id)
  const second = keyed(rotated.key)
  expect((await second('GET', '/v1/stats')).status).toBe(200)
  expect((await first('GET', '/v1/stats')).status).toBe(200)
  const third = keyed((await operator('POST', `/v1/keys/${made.id}/rotate`)).json.key)
  expect((await third('GET', '/v1/stats')).status).toBe(200)
  expect([(await first('GET', '/v1/stats')).status, (await second('GET', '/v1/stats')).status]).toEqual([
    401, 401,
  ])
  expect((await operator('DELETE', `/v1/keys/${made.id}`)).json.revoked_at).not.toBeNull()
  await until(async () => (await third('GET', '/v1/stats')).status === 401)
  expect((await operator('POST', `/v1/keys/${made.id}/rotate`)).json.code).toBe('already_ended')
}

it('stores only the hash of a key', async () => {
  const documents = await server.wakeful.operator.documents.listDocuments('key', null, '', 100)
  expect(documents.length).toBeGreaterThan(3)
  for (const { value } of documents) expect(value).not.toContain('wk_')
})

it('refuses to listen to other machines without keys, and says how to make one', async () => {
  await expect(serving({ server: { host: '0.0.0.0' } })).rejects.toThrow(/wakeful keys create --rights admin/)
})

it('answers only this machine while there are no keys: neither a rebound name nor a foreign page', async () => {
  const { url, call } = await serving()
  const port = new URL(url).port
  for (const origin of [`http://127.0.0.1:${port}`, undefined])
    expect((await call('GET', '/v1/stats', undefined, origin ? { origin } : {})).status).toBe(200)
  for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${Number(port) + 1}`])
    expect((await call('GET', '/v1/stats', undefined, { origin })).json.code).toBe('forbidden')
  expect((await call('POST', '/v1/alarms', '{}', { 'content-type': 'text/plain' })).status).toBe(400)
  const { request } = await import('node:http')
  const status = await new Promise((resolve) => {
    const asked = request(
      { port, host: '127.0.0.1', path: '/v1/stats', headers: { host: 'evil.example' } },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      },
    )
    asked.end()
  })
  expect(status).toBe(403)
})

it.for(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'x-forwarded-host', 'cf-connecting-ip'])(
  'without keys, requests through a proxy are refused on every interface: %s',
  async (header) => {
    const { url, call } = await serving()
    const headers = { [header]: '203.0.113.7' }
    for (const [method, path] of [
      ['GET', '/v1/stats'],
      ['GET', '/v1/events/stream'],
      ['POST', '/mcp'],
      ['GET', '/metrics'],
    ] as const) {
      const { status, json } = await call(method, path, undefined, headers)
      expect([path, status, json.detail]).toEqual([path, 403, expect.stringContaining('through a proxy')])
    }
    const { ticket } = (await call('POST', '/v1/tickets')).json
    for (const path of ['/v1/ws', `/v1/ws?ticket=${ticket}`])
      expect(await refusal(url, { headers, path })).toEqual({ status: 403, code: 'forbidden' })
  },
)

it('returns nothing to a page of another port while there are no keys', async () => {
  const { call } = await serving()
  const from = (site: string) => call('GET', '/v1/inbox?hold=1h', undefined, { 'sec-fetch-site': site })
  for (const site of ['cross-site', 'same-site']) expect((await from(site)).json.code).toBe('forbidden')
  for (const site of ['same-origin', 'none']) expect((await from(site)).status).toBe(200)
})
