import { expect, it } from 'vitest'
import { caller, serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { connected, refusal, until } from './ws-client.ts'

const server = await serving()
const { url, wakeful } = server
const EVENT = { event: true }

/** Opens the stream, cuts it at once, and returns its status. */
async function streamStatus(query: string, headers: Record<string, string> = {}): Promise<number> {
  const cut = new AbortController()
  const { status } = await fetch(`${url}/v1/events/stream${query}`, { headers, signal: cut.signal })
  cut.abort()
  return status
}

it('admits a caller without a key only while there are no keys', async () => {
  const as = { 'wakeful-owner': 'ann' }
  const ticket = async () => (await server.call('POST', '/v1/tickets', undefined, as)).json.ticket
  const set = (await server.call('POST', '/v1/alarms', { delay: '1h', target: EVENT }, as)).json
  const ws = await connected(url, { query: `?ticket=${await ticket()}` })
  expect((await ws.call('list')).result).toMatchObject([{ id: set.id }])
  const left = await ticket()
  await server.call('POST', '/v1/keys', { tenant: '*', rights: 'admin' })
  // Connections without a key end too: they would not be admitted any more.
  expect(await ws.closed).toEqual({ code: 1008, reason: 'the key is no longer valid' })
  expect(await refusal(url, { path: `/v1/ws?ticket=${left}` })).toMatchObject({ status: 401 })
  expect(await refusal(url)).toEqual({ status: 401, code: 'unauthorized' })
})

it('is valid once, for 30 seconds, for its caller’s tenant and owner, while the key is valid', async () => {
  const { keys } = keysOf(wakeful)
  const made = await keys('acme', 'ann', 'write')
  const ann = caller(url, { authorization: `Bearer ${made.key}` })
  const issued = await ann('POST', '/v1/tickets')
  expect(issued.status).toBe(201)
  expect(issued.json.ticket).toMatch(/^wt_[\w-]{43}$/)
  const lasts = Date.parse(issued.json.expires_at) - Date.now()
  expect(lasts > 25_000 && lasts <= 30_000).toBe(true)
  const set = (await ann('POST', '/v1/alarms', { delay: '1h', target: EVENT })).json
  const query = `?ticket=${issued.json.ticket}`
  const ws = await connected(url, { query })
  expect((await ws.call('get', { id: set.id })).result.id).toBe(set.id)
  expect((await ws.call('createKey', {})).error.code).toBe('forbidden')
  expect(await refusal(url, { path: `/v1/ws${query}` })).toEqual({ status: 401, code: 'unauthorized' })
  expect(await streamStatus(query)).toBe(401)
  const more = async () => `?ticket=${(await ann('POST', '/v1/tickets')).json.ticket}`
  expect(await streamStatus(await more())).toBe(200)
  // Ten connections with one ticket: one is accepted.
  const shared = await more()
  const statuses = await Promise.all(Array.from({ length: 10 }, () => streamStatus(shared)))
  expect(statuses.sort()).toEqual([200, ...Array.from({ length: 9 }, () => 401)])
  expect((await ann('GET', `/v1/stats${await more()}`)).status).toBe(400)
  // Only the hash of a ticket is in the store, and unused tickets are removed.
  const left = await more()
  const stored = await wakeful.operator.documents.listDocuments('ticket', null, '', 100)
  expect(stored.length).toBeGreaterThan(0)
  expect(JSON.stringify(stored)).not.toMatch(/wt_|wk_/)
  await made.revoke()
  expect(await ws.closed).toEqual({ code: 1008, reason: 'the key is no longer valid' })
  expect(await refusal(url, { path: `/v1/ws${left}` })).toEqual({ status: 401, code: 'unauthorized' })
})

it('ends live connections after their key is revoked, rotated or expired', async () => {
  const { keys } = keysOf(wakeful)
  for (const ending of ['revoke', 'rotate', 'expire'] as const) {
    const made = await keys('acme', 'bob', 'read', ending === 'expire' ? 1_500 : null)
    const headers = { authorization: `Bearer ${made.key}` }
    const ws = await connected(url, { headers })
    const stream = await fetch(`${url}/v1/events/stream`, { headers })
    expect(stream.status).toBe(200)
    let isOver = false
    const reading = stream.text().then(() => {
      isOver = true
    })
    if (ending !== 'expire') await made[ending]()
    else await new Promise((resolve) => setTimeout(resolve, 1_500))
    await until(() => isOver && ws.socket.readyState === ws.socket.CLOSED)
    await reading
    expect((await ws.closed).code).toBe(1008)
    expect((await caller(url, headers)('GET', '/v1/stats')).status).toBe(401)
  }
})

it('removes unused tickets that expired', async () => {
  const { TicketStore } = await import('../../src/server/auth/ticket-store.ts')
  const { documents, clock } = wakeful.operator
  let now = clock.now()
  const later = { ...clock, now: () => now, monotonic: () => now, setTimer: clock.setTimer, turn: clock.turn }
  const book = new TicketStore(documents, later)
  const holder = { tenant: 'sweep', owner: '', keyId: null, keyHash: null }
  const first = await book.issue(holder)
  const count = async () => (await documents.listDocuments('ticket', 'sweep', '', 100)).length
  for (let n = 0; n < 5; n++) await book.issue(holder)
  expect(await count()).toBe(6)
  now += 30_000
  expect(await book.redeem(first.ticket)).toBeNull()
  await book.issue(holder)
  expect(await count()).toBe(1)
})
