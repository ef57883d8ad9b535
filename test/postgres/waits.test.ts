import { expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../src/stores/conformance/harness.ts'
import { openPostgres, type PostgresOptions } from '../../src/stores/postgres/index.ts'
import { Wire } from '../chaos/postgres/wire.ts'
import { testDatabase } from './database.ts'
import { isWaiting, type PostgresHarness, postgresBench } from './harness.ts'
import { ManualTimers } from './manual-timers.ts'

/** The waits of the real store on a real server, on timers for which only the test lets time pass. */
const { url, client } = testDatabase()

interface Scene extends PostgresHarness {
  readonly timers: ManualTimers
  readonly wire: Wire
}

async function scene(options: Partial<PostgresOptions> = {}): Promise<Scene> {
  const timers = new ManualTimers()
  const { wire, through } = await wired()
  const bench = await postgresBench(url, { url: through, timers, ...options })
  return { ...bench, timers, wire }
}

async function wired(): Promise<{ wire: Wire; through: string }> {
  const through = new URL(url)
  const wire = await Wire.start(Number(through.port))
  onTestFinished(() => wire.close())
  through.port = String(wire.port)
  return { wire, through: through.href }
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** What other processes tell this one, once it listens and waits for nothing. */
async function noticesOf({ store, timers }: Scene): Promise<string[]> {
  const notices: string[] = []
  onTestFinished(store.onChange((change) => notices.push(change)))
  await until(() => notices.length > 0 && timers.left.length === 0)
  notices.length = 0
  return notices
}

/** Lets the server end the connections that listen, and waits until the process has noticed. */
async function cutListeners({ timers }: Scene): Promise<void> {
  await client.query(`SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
  await until(() => timers.left.length > 0)
}

const HALF_OPEN = { code: 'store_unavailable' }

test('a process whose LISTEN connection breaks listens again after its backoff, and hears again', async () => {
  const at = await scene()
  const { bench, timers, peer } = at
  const notices = await noticesOf(at)
  await cutListeners(at)
  expect(timers.left).toEqual([100])
  timers.pass(99)
  await (await peer()).set([bench.request({ delay: '1s' })], bench.context())
  expect([await isWaiting(until(() => notices.length > 0)), notices]).toEqual([true, []])

  timers.pass(1)
  // What it missed may be due: it looks by itself.
  await until(() => notices.includes('timers') && notices.includes('shards'))
  notices.length = 0
  await (await peer()).set([bench.request({ delay: '1s' })], bench.context())
  await until(() => notices.includes('timers'))
})

test('a process that cannot reconnect doubles its backoff up to two seconds', async () => {
  const at = await scene()
  const { timers } = at
  await noticesOf(at)
  at.wire.close()
  const waits: number[] = []
  for (let i = 0; i < 7; i++) {
    // While it connects, it waits for the connection for up to ten seconds.
    await until(() => timers.left.length === 1 && timers.left[0]! < 10_000)
    const [ms] = timers.left
    waits.push(ms!)
    timers.pass(ms!)
  }
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000])
})

test('a half-open LISTEN connection is found by the next heartbeat, which goes another way in time', async () => {
  const at = await scene()
  const { bench, timers, wire, store } = at
  const notices = await noticesOf(at)
  await bench.heartbeat('one')
  expect(await wire.freezeNext('listener', 0)).toBe(true)
  const heartbeat = bench.heartbeat('one')
  await until(() => timers.left.length > 0)
  expect(timers.left).toEqual([store.heartbeatMs])
  timers.pass(store.heartbeatMs - 1)
  expect(await isWaiting(heartbeat)).toBe(true)
  timers.pass(1)
  expect(await heartbeat).toHaveLength(2)
  // The dropped connection is replaced after the backoff.
  expect(timers.left).toEqual([100])
  timers.pass(100)
  await until(() => notices.includes('shards'))
})

test('a statement that hangs fails after its timeout, and the next one has another connection', async () => {
  const { bench, timers, wire } = await scene({ statementTimeoutMs: 3_000 })
  const frozen = wire.freezeNext('request', 10_000)
  const stats = bench.store.stats({ tenant: 'default', owner: '' })
  expect(await frozen).toBe(true)
  // The server ends a statement in time, so only a half-open connection takes two seconds more.
  expect(timers.left).toEqual([5_000])
  timers.pass(4_999)
  expect(await isWaiting(stats)).toBe(true)
  timers.pass(1)
  await expect(stats).rejects.toMatchObject(HALF_OPEN)
  expect((await bench.store.stats({ tenant: 'default', owner: '' })).total).toBe(0)
  expect(timers.left).toEqual([])
})

test('a call that finds no free connection fails after ten seconds', async () => {
  const { bench, timers, wire } = await scene({ connectionsMax: 1, statementTimeoutMs: 60_000 })
  const frozen = wire.freezeNext('request', 10_000)
  const first = bench.store.lastEvent()
  expect(await frozen).toBe(true)
  const second = bench.store.lastEvent()
  await until(() => timers.left.length === 2)
  expect(timers.left).toEqual([10_000, 62_000])
  timers.pass(10_000)
  await expect(second).rejects.toMatchObject(HALF_OPEN)
  timers.pass(52_000)
  await expect(first).rejects.toMatchObject(HALF_OPEN)
  expect(await bench.store.lastEvent()).toBeGreaterThanOrEqual(0)
})

test('a server that never answers is given up on after ten seconds', async () => {
  const timers = new ManualTimers()
  const { wire, through } = await wired()
  wire.sever()
  const opening = openPostgres({ url: through, timers, clock: new SteppedClock() })
  await until(() => timers.left.length > 0)
  expect(timers.left).toEqual([10_000])
  timers.pass(10_000)
  await expect(opening).rejects.toMatchObject(HALF_OPEN)
})

test('a store closes within a second although its connections are half open', async () => {
  const at = await scene()
  const { timers, wire, store } = at
  await noticesOf(at)
  wire.sever()
  const closing = store.close()
  // First the connection that listens, then the pools.
  for (let i = 0; i < 2; i++) {
    await until(() => timers.left.length > 0)
    expect(timers.left).toEqual([1_000])
    expect(await isWaiting(closing)).toBe(true)
    timers.pass(1_000)
  }
  await closing
})

test('the log is polled every 200 ms for those who follow it, and not after they stop', async () => {
  const at = await scene()
  const { bench, timers, store } = at
  let grown = 0
  const stop = store.onChange(() => {
    grown += 1
  }, 'log')
  expect(timers.left).toContain(200)
  timers.pass(200)
  await until(() => grown === 1)
  timers.pass(200)
  expect(await isWaiting(until(() => grown > 1))).toBe(true)
  await bench.alarm({ delay: '1h' })
  await bench.store.append({ tenant: 'default', owner: '' }, EVENT)
  expect(await isWaiting(until(() => grown > 1))).toBe(true)
  timers.pass(200)
  await until(() => grown === 2)
  stop()
  expect(timers.left).not.toContain(200)
})

test('a reader of the log waits a second at most for an open writer, and reads up to it', async () => {
  const { bench, timers, connect, schema, store } = await scene()
  const ann = { tenant: 'default', owner: 'ann' }
  await store.append(ann, EVENT)
  await bench.store.events(ann, { after: 0, limit: 10 })
  const writer = await connect()
  await writer.query('BEGIN')
  await writer.query(`INSERT INTO ${schema}.events SELECT * FROM ${schema}.events WHERE false`)
  await writer.query(`SELECT nextval(pg_get_serial_sequence('${schema}.events', 'seq'))`)
  await store.append(ann, { ...EVENT, id: crypto.randomUUID() })
  const reading = bench.store.events(ann, { after: 0, limit: 10 })
  let waited = 0
  while (await isWaiting(reading)) {
    const [ms] = timers.left
    waited += ms!
    timers.pass(ms!)
  }
  expect(waited).toBeGreaterThanOrEqual(1_000)
  expect(waited).toBeLessThan(1_050)
  expect((await reading).events).toHaveLength(1)
  await writer.query('COMMIT')
  expect((await bench.store.events(ann, { after: 0, limit: 10 })).events).toHaveLength(2)
})

const EVENT = {
  id: '01890000-0000-7000-8000-000000000001',
  type: 'user.event',
  subject: null,
  correlationId: null,
  at: 1_000,
  data: '{}',
}
