import { expect, inject, it } from 'vitest'
import { Random } from '../random.ts'
import { caller, serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { readInPieces, StreamReader } from './stream-client.ts'
import { connected, refusal, until } from './ws-client.ts'

const EVENTS = 3_000
const store = `${inject('postgres')}postgres?schema=live_${process.pid}`
// Two servers on one store, as behind a load balancer.
const [one, other] = [await serving({ store }), await serving({ store })]

it('misses and repeats no event, resumed at another server each time', async () => {
  const chance = new Random(11)
  const owner = `pieces ${one.url}`
  const reader = new StreamReader()
  const urls = [one, other].map(({ url }) => `${url}/v1/events/stream`)
  const headers = { 'wakeful-owner': encodeURIComponent(owner) }
  const reading = readInPieces(urls, reader, headers, () => chance.next())
  await until(() => reader.lastId !== null)
  const writers = [one, other].map(({ wakeful }) => wakeful.forTenant('default', owner))
  for (let n = 0; n < EVENTS; n += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        writers[at % 2]!.append({ type: 'order.paid', data: { n: n + at } }),
      ),
    )
  const expected = (await Array.fromAsync(writers[0]!.events())).map(({ cursor }) => cursor)
  expect(expected).toHaveLength(EVENTS)
  await until(() => reader.events.at(-1)?.id === expected.at(-1))
  expect(await reading.stop()).toBeGreaterThan(5)
  expect(reader.events.map(({ id }) => id)).toEqual(expected)
}, 90_000)

it('accepts a ticket at either server, once, and ends connections of a key revoked at the other', async () => {
  const made = await keysOf(one.wakeful).keys('acme', 'ann', 'read')
  const headers = { authorization: `Bearer ${made.key}` }
  await until(async () => (await caller(other.url, headers)('GET', '/v1/stats')).status === 200)
  const { ticket } = (await caller(one.url, headers)('POST', '/v1/tickets')).json
  const attempts = await Promise.allSettled(
    [other, one, other, one].map(({ url }) => connected(url, { query: `?ticket=${ticket}` })),
  )
  const opened = attempts.flatMap((tried) => (tried.status === 'fulfilled' ? [tried.value] : []))
  expect(opened).toHaveLength(1)
  expect(await refusal(one.url, { path: `/v1/ws?ticket=${ticket}` })).toMatchObject({ status: 401 })
  const ws = await connected(other.url, { headers })
  await made.revoke()
  await until(() => [ws, ...opened].every(({ socket }) => socket.readyState === socket.CLOSED))
  expect((await ws.closed).code).toBe(1008)
})
