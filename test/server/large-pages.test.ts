import { expect, it, vi } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { serving } from './harness.ts'

const { url, call } = await serving()
const LARGE = 'x'.repeat(200_000)
/** About 4 MiB, the item that reaches them, and what else there is to an answer. */
const ANSWER_MAX = 4.5 * 2 ** 20

it('ends a page at about 4 MiB, in every list, and goes on from its cursor', async () => {
  for (let n = 0; n < 40; n++)
    await call('POST', '/v1/alarms', { delay: '1h', target: { event: true }, payload: LARGE, label: `${n}` })
  const labels: string[] = []
  let cursor: string | null = ''
  for (let pages = 0; cursor !== null; pages++) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { json, text } = await call('GET', `/v1/alarms?limit=500${query}`)
    expect(text.length).toBeLessThan(ANSWER_MAX)
    expect(pages).toBeLessThan(3)
    for (const { label } of json.items) labels.push(label)
    cursor = json.next_cursor
  }
  expect(labels).toEqual(Array.from({ length: 40 }, (_, n) => `${39 - n}`))
  const history = await call('GET', '/v1/history?limit=500')
  expect(history.text.length).toBeLessThan(ANSWER_MAX)
  expect(history.json.items.length).toBeGreaterThan(10)
})

it('ends a page of events there too, and a client reads on to the end', async () => {
  for (let n = 0; n < 40; n++)
    await call('POST', '/v1/events', { type: 'own.large', data: { n, text: LARGE } })
  const { json, text } = await call('GET', '/v1/events?limit=500')
  expect(text.length).toBeLessThan(ANSWER_MAX)
  expect(json.items.length).toBeLessThan(40)
  expect(json.next_cursor).toBe(json.items.at(-1).cursor)
  const read: unknown[] = []
  for await (const { data } of connect(url).events()) read.push(data.n)
  expect(read).toEqual(Array.from({ length: 40 }, (_, n) => n))
})

it('reads so many pages at once, and no more, however many are asked for', { timeout: 60_000 }, async () => {
  const list = SqliteStore.prototype.list
  let [under, most] = [0, 0]
  const spy = vi.spyOn(SqliteStore.prototype, 'list').mockImplementation(async function (
    this: SqliteStore,
    ...given
  ) {
    under += 1
    most = Math.max(most, under)
    // Long enough for all of them to come.
    await new Promise((resolve) => setTimeout(resolve, 100))
    try {
      return await list.apply(this, given)
    } finally {
      under -= 1
    }
  })
  const owners = ['', 'a', 'b', 'c', 'd', 'e']
  const asked = Array.from({ length: 30 }, (_, n) =>
    call('GET', '/v1/alarms?limit=500', undefined, { 'wakeful-owner': owners[n % owners.length]! }),
  )
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  spy.mockRestore()
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(most).toBe(4)
})
