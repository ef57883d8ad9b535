import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/hosts/node/index.ts'
import { open } from '../../src/index.ts'
import { openPostgres } from '../../src/stores/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../postgres/server.ts'
import { enterRunning } from './actors.ts'

/** A separate server, since it is stopped and restarted. */
let server: PostgresServer
let schemas = 0

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server.stop())

function newStore(): string {
  schemas += 1
  return `${server.url()}?schema=s${schemas}`
}

async function admin<R extends pg.QueryResultRow>(sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  try {
    return (await client.query<R>(sql)).rows
  } finally {
    await client.end()
  }
}

test('an idle process sends its heartbeat and nothing else', async () => {
  const wakeful = await open(newStore())
  wakeful.handle('x', () => {})
  await wakeful.start()
  await wakeful.set('in 1 hour', { target: 'x' })
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  const start = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 10_000))
  const seconds = (performance.now() - start) / 1000
  const texts = sent.mock.calls.map(([query]) => (query as unknown as { text: string }).text)
  sent.mockRestore()
  console.log(`statements per second of an idle process: ${(texts.length / seconds).toFixed(2)}`)
  expect(texts.filter((text) => !text.startsWith('WITH heartbeat'))).toEqual([])
  expect(texts.length).toBeLessThanOrEqual(Math.ceil(seconds / 2) + 1)
  await wakeful.close()
}, 40_000)

test('is notified of sets again after its connections were cut', async () => {
  const url = newStore()
  const [one, two] = [await enterRunning(url), await enterRunning(url)]
  await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wakeful'")
  for (let i = 0; i < 10; i++) await one.set(300, { message: `m${i}` })
  const fires = await Promise.all(
    Array.from({ length: 10 }, (_, i) => Promise.any([one.fired(`m${i}`), two.fired(`m${i}`)])),
  )
  console.log(`ms after the instant: ${fires.map(({ at, due }) => at - due).join(' ')}`)
})

test('continues after a crash of the server, with nothing lost and nothing early', async () => {
  const url = newStore()
  const one = await enterRunning(url)
  const messages = Array.from({ length: 10 }, (_, i) => `m${i}`)
  for (const [i, message] of messages.entries()) await one.set(500 + i * 100, { message })
  await server.crash()
  const fires = await Promise.all(messages.map((message) => one.fired(message)))
  expect(Math.min(...fires.map(({ at, due }) => at - due))).toBeGreaterThanOrEqual(0)
  await one.set(0, { message: 'after' })
  await one.fired('after')
})

test('a wrong host clock neither advances nor delays alarms: the database’s clock is authoritative', async () => {
  const url = newStore()
  for (const wrongBy of [3_600_000, -3_600_000]) {
    const clock = { ...systemClock, now: () => systemClock.now() + wrongBy }
    const store = await openPostgres({ url, clock })
    const before = store.clock.now()
    const [row] = await admin<{ now: string }>(
      'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now',
    )
    expect(before).toBeLessThanOrEqual(Number(row!.now))
    expect(Number(row!.now) - before).toBeLessThan(5_000)
    await store.close()
  }
})
