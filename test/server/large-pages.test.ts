import { expect, inject, it, vi } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { serving } from './harness.ts'
import { connected, until } from './ws-client.ts'

const { url, call } = await serving()
const LARGE = 'x'.repeat(200_000)
/** About 4 MiB, plus the item that exceeds them and the rest of the answer. */
const ANSWER_MAX = 4.5 * 2 ** 20

it('ends a page at about 4 MiB in every list, and continues from its cursor', async () => {
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
})

it.each(['sqlite', 'postgres'])(
  'returns a cursor when history or failures are too large for one answer: %s',
  async (kind) => {
    const store = `${inject('postgres')}postgres?schema=large_${process.pid}`
    const { url, call, wakeful } = await serving(kind === 'postgres' ? { store } : {})
    wakeful.handle('doomed', () => {
      throw new Error('no')
    })
    await wakeful.start()
    const doomed = { target: 'doomed', maxFailures: 1 }
    const small = await wakeful.set({ delay: '0s' }, doomed)
    await until(async () => (await wakeful.stats()).failed === 1)
    const paths = ['/v1/history?limit=500', '/v1/failed?limit=500']
    for (const path of paths) {
      const { json } = await call('GET', path)
      expect([json.items.length, json.next_cursor]).toEqual([1, null])
    }
    const items = Array.from({ length: 40 }, () => ({ when: { delay: '0s' }, ...doomed, payload: LARGE }))
    const large = await wakeful.setMany(items)
    await until(async () => (await wakeful.stats()).failed === 41)
    const expected = [small, ...large].map(({ id }) => id).reverse()

    const ws = await connected(url)
    const overHttp = (path: string) => async (cursor: string | null) => {
      const { json, text } = await call('GET', cursor === null ? path : `${path}&cursor=${cursor}`)
      expect(text.length).toBeLessThan(ANSWER_MAX)
      return { items: json.items, next: json.next_cursor }
    }
    const overWs = (name: string) => async (cursor: string | null) => {
      const answer = await ws.call(name, { limit: 500, ...(cursor !== null && { cursor }) })
      return { items: answer.result, next: answer.next_cursor ?? null }
    }
    for (const ask of [...paths.map(overHttp), ...['history', 'failed'].map(overWs)]) {
      const found: string[] = []
      let cursor: string | null = null
      let pages = 0
      do {
        const { items, next } = await ask(cursor)
        for (const { id } of items) found.push(id)
        cursor = next
        pages += 1
      } while (cursor !== null)
      expect(found).toEqual(expected)
      expect(pages).toBe(2)
    }
    ws.socket.close()

    for (const alarms of [wakeful, connect(url)]) {
      const read = [await alarms.history({ limit: 500 }), await alarms.failed({ limit: 500 })]
      for (const found of read) expect(found.map(({ id }) => id)).toEqual(expected)
      expect((await alarms.history({ limit: 30 })).map(({ id }) => id)).toEqual(expected.slice(0, 30))
      expect(await alarms.failed()).toHaveLength(20)
    }
  },
  60_000,
)

it('lists pending alarms over the WebSocket, however large they are', async () => {
  const { url, wakeful } = await serving()
  const target = { event: true } as const
  const items = Array.from({ length: 40 }, (_, n) => ({
    when: { delay: `${n + 1}h` },
    target,
    payload: LARGE,
  }))
  const ids = (await wakeful.setMany(items)).map(({ id }) => id)
  const ws = await connected(url)
  const listed = async (args = {}) => (await ws.call('list', args)).result.map(({ id }: { id: string }) => id)
  expect(await listed()).toEqual(ids)
  expect(await listed({ limit: 30 })).toEqual(ids.slice(0, 30))
  ws.socket.close()
})

it('ends a page of events there too, and a client reads all pages', async () => {
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

it('counts a string as JSON encodes it', async () => {
  const as = { 'wakeful-owner': 'control characters' }
  const alarm = { delay: '1h', target: { event: true }, wake_message: '\u0001'.repeat(60_000) }
  for (let n = 0; n < 20; n++) expect((await call('POST', '/v1/alarms', alarm, as)).status).toBe(201)
  const { json, text } = await call('GET', '/v1/alarms?limit=500', undefined, as)
  expect(text.length).toBeLessThan(ANSWER_MAX)
  expect(json.items.length).toBeLessThan(20)
  expect(json.next_cursor).not.toBeNull()
})

it('reads a limited number of pages at the same time, however many are requested', {
  timeout: 60_000,
}, async () => {
  const list = SqliteStore.prototype.list
  let [under, most] = [0, 0]
  const spy = vi.spyOn(SqliteStore.prototype, 'list').mockImplementation(async function (
    this: SqliteStore,
    ...args
  ) {
    under += 1
    most = Math.max(most, under)
    // Long enough for all of them to arrive.
    await new Promise((resolve) => setTimeout(resolve, 100))
    try {
      return await list.apply(this, args)
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
