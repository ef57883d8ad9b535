import { Histogram, Registry } from 'prom-client'
import { expect, inject, test } from 'vitest'
import { WakefulError } from '../../error.ts'
import { openOn, systemClock } from '../../hosts/node/index.ts'
import type { Readings } from '../../library/index.ts'
import { openTest, type TestOptions, VirtualClock } from '../../testing/index.ts'
import { METRIC_LIST } from './metric-definitions.ts'
import { Metrics } from './metrics.ts'
import { QuickHistogram } from './quick-histogram.ts'

const BUILD = { version: '1.2.3', node: 'v26' }
const BASE = { target: 'work', maxFailures: 3, backoff: { baseMs: 1_000, capMs: 1_000 } }

const READINGS: Readings = {
  takesWrites: true,
  isRunning: true,
  hasSecret: true,
  inFlight: 0,
  queued: 0,
  unsettled: 0,
  backlog: 0,
  inboxWaiting: 9,
  now: 0,
  pools: [{ pool: 'app', here: 1, elsewhere: 2, nobody: 3, lagMs: 4_000, withoutHandlerMs: 0 }],
}

/** A bench whose metrics are read as Prometheus reads them. */
async function bench(options: TestOptions = {}) {
  const metrics = new Metrics(BUILD)
  const { wakeful, clock, close } = await openTest({
    random: () => 0,
    ...options,
    observer: metrics.observer,
  })
  metrics.attach({ readings: () => wakeful.operator.readings(), clock, hostNow: () => clock.now() - 250 })
  const read = async () => figures((await metrics.text()).body)
  return { metrics, wakeful, clock, read, [Symbol.asyncDispose]: close }
}

/** The samples by their names and labels; what is zero is left out. */
function figures(text: string): Record<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    samples.map((line) => /^(.*) (\S+)$/.exec(line)!).map(([, name, value]) => [name!, Number(value)]),
  )
}

const named = (all: Record<string, number>, part: string) =>
  Object.fromEntries(Object.entries(all).filter(([name, value]) => name.startsWith(part) && value !== 0))

test('attempts are counted by outcome, retries and final failures apart', async () => {
  await using at = await bench()
  let calls = 0
  at.wakeful.handle('work', (fire) => {
    calls += 1
    if (fire.message === 'never' || (fire.message === 'later' && fire.attempt < 2)) throw new Error('no')
  })
  await at.wakeful.start()
  for (const message of ['well', 'well', 'later', 'never'])
    await at.wakeful.set({ delay: '1m' }, { ...BASE, message })
  await at.wakeful.set({ delay: '1m' }, { target: { event: true } })
  await at.clock.advance('2m')
  const all = await at.read()
  expect(calls).toBe(7)
  expect(named(all, 'wakeful_attempts_total')).toEqual({
    'wakeful_attempts_total{target="handler",outcome="delivered"}': 3,
    'wakeful_attempts_total{target="handler",outcome="retry"}': 3,
    'wakeful_attempts_total{target="handler",outcome="failed"}': 1,
    'wakeful_attempts_total{target="event",outcome="delivered"}': 1,
  })
  expect(all['wakeful_fire_lateness_seconds_count{target="handler"}']).toBe(4)
  expect(all['wakeful_fire_lateness_seconds_count{target="event"}']).toBe(1)
  expect(all['wakeful_attempt_duration_seconds_count{target="handler"}']).toBe(7)
  expect(named(all, 'wakeful_sets_total')).toEqual({ 'wakeful_sets_total{outcome="created"}': 5 })
  expect(all.wakeful_settle_duration_seconds_count).toBeGreaterThanOrEqual(3)
})

test('lateness is exact to the millisecond, and excludes retries and pauses', async () => {
  await using at = await bench()
  at.wakeful.handle('work', () => {})
  await at.wakeful.set({ delay: '1s' }, BASE)
  await at.wakeful.set({ delay: '1s' }, { ...BASE, target: 'nobody has this yet' })
  const paused = await at.wakeful.set({ delay: '1s' }, BASE)
  await at.wakeful.pause(paused.id)
  await at.clock.advance(1_040)
  await at.wakeful.start()
  await at.clock.advance('1h')
  at.wakeful.handle('nobody has this yet', () => {})
  await at.wakeful.resume(paused.id)
  await at.clock.advance('10m')
  const all = await at.read()
  expect(all['wakeful_attempts_total{target="handler",outcome="delivered"}']).toBe(3)
  const lateness = 'wakeful_fire_lateness_seconds'
  expect(all[`${lateness}_sum{target="handler"}`]).toBe(0.04)
  expect(all[`${lateness}_bucket{le="0.025",target="handler"}`]).toBe(0)
  expect(all[`${lateness}_bucket{le="0.05",target="handler"}`]).toBe(1)
  expect(all[`${lateness}_bucket{le="+Inf",target="handler"}`]).toBe(1)
})

test('skipped occurrences are counted by reason', async () => {
  await using at = await bench()
  at.wakeful.handle('work', () => {})
  await at.wakeful.set({ every: '1m' }, BASE)
  await at.clock.advance('10m30s')
  await at.wakeful.start()
  await at.clock.advance(10)
  expect(named(await at.read(), 'wakeful_skipped_total')).toEqual({
    'wakeful_skipped_total{reason="misfire"}': 9,
  })
})

test('a missing report is counted', async () => {
  await using at = await bench()
  at.wakeful.handle('work', () => {})
  await at.wakeful.start()
  await at.wakeful.set({ delay: '1s' }, { ...BASE, ack: 'report', completionTimeout: '1m' })
  await at.clock.advance('5m')
  expect((await at.read()).wakeful_reports_overdue_total).toBe(1)
})

test('sets are counted by outcome', async () => {
  await using at = await bench()
  const set = (more: object) => at.wakeful.set({ delay: '1h' }, { ...BASE, ...more })
  await set({ key: 'a' })
  await set({ key: 'a' })
  await set({ key: 'a', label: 'b' })
  await set({ idempotencyKey: 'b' })
  await set({ idempotencyKey: 'b' })
  await at.wakeful.setMany([{ when: { delay: '1h' }, ...BASE }])
  expect(named(await at.read(), 'wakeful_sets_total')).toEqual({
    'wakeful_sets_total{outcome="created"}': 3,
    'wakeful_sets_total{outcome="unchanged"}': 1,
    'wakeful_sets_total{outcome="replaced"}': 1,
    'wakeful_sets_total{outcome="deduped"}': 1,
  })
})

test('deliveries in flight, queued occurrences and lag are read at the scrape', async () => {
  await using at = await bench({ concurrency: 2 })
  const started = Promise.withResolvers<void>()
  at.wakeful.handle('work', () => started.promise)
  await at.wakeful.start()
  for (let i = 0; i < 5; i++) await at.wakeful.set({ delay: '1s' }, BASE)
  await at.clock.advance(11_000)
  const busy = await at.read()
  expect(busy.wakeful_in_flight).toBe(2)
  expect(busy.wakeful_queued! + busy.wakeful_backlog!).toBe(3)
  expect(busy['wakeful_lag_seconds{pool="app"}']).toBe(10)
  expect(busy['wakeful_lag_seconds{pool="wakeful"}']).toBe(0)
  expect(named(busy, 'wakeful_shards')).toEqual({
    'wakeful_shards{pool="wakeful",owner="here"}': 1,
    'wakeful_shards{pool="app",owner="here"}': 1,
  })
  expect(busy.wakeful_clock_correction_seconds).toBe(0.25)
  expect(busy.wakeful_store_up).toBe(1)
  started.resolve()
  await at.clock.advance(1_000)
  const idle = await at.read()
  expect([idle.wakeful_in_flight, idle.wakeful_queued, idle['wakeful_lag_seconds{pool="app"}']]).toEqual([
    0, 0, 0,
  ])
  expect(idle['wakeful_attempts_total{target="handler",outcome="delivered"}']).toBe(5)
})

test('a transactional handler is counted like any other', async () => {
  await using at = await bench()
  at.wakeful.handle(
    'work',
    (fire) => {
      if (fire.attempt === 1) throw new Error('no')
    },
    { transactional: true },
  )
  await at.wakeful.start()
  await at.wakeful.set({ delay: '1s' }, BASE)
  await at.clock.advance('1m')
  expect(named(await at.read(), 'wakeful_attempts_total')).toEqual({
    'wakeful_attempts_total{target="handler",outcome="delivered"}': 1,
    'wakeful_attempts_total{target="handler",outcome="retry"}': 1,
  })
})

test('the figures are right on PostgreSQL too', async () => {
  const metrics = new Metrics(BUILD)
  const url = `${inject('postgres')}postgres?schema=metrics`
  const wakeful = await openOn(url, { timezone: 'UTC', observer: metrics.observer })
  metrics.attach({ readings: () => wakeful.operator.readings(), clock: systemClock })
  try {
    wakeful.handle('work', (fire) => {
      if (fire.message === 'never') throw new Error('no')
    })
    const set = (more: object) => wakeful.set({ delay: '1ms' }, { ...BASE, maxFailures: 1, ...more })
    for (let i = 0; i < 20; i++) await set({})
    await set({ message: 'never' })
    await set({ target: { event: true } })
    while ((await wakeful.stats()).pending > 0) await wakeful.tick()
    const all = figures((await metrics.text()).body)
    expect(named(all, 'wakeful_attempts_total')).toEqual({
      'wakeful_attempts_total{target="handler",outcome="delivered"}': 20,
      'wakeful_attempts_total{target="handler",outcome="failed"}': 1,
      'wakeful_attempts_total{target="event",outcome="delivered"}': 1,
    })
    expect(all['wakeful_fire_lateness_seconds_count{target="handler"}']).toBe(21)
    expect(all['wakeful_sets_total{outcome="created"}']).toBe(22)
    expect(all['wakeful_shards{pool="app",owner="nobody"}']).toBe(64)
  } finally {
    await wakeful.close()
  }
})

test('a rejected call is not a store error', async () => {
  await using at = await bench()
  const alarm = await at.wakeful.set({ delay: '1h' }, BASE)
  await expect(at.wakeful.pause(alarm.id, { updatedAt: new Date(0) })).rejects.toThrow(WakefulError)
  expect(named(await at.read(), 'wakeful_store_errors_total')).toEqual({})
})

test('a scrape answers if the store fails or hangs, and says so', async () => {
  const clock = new VirtualClock()
  const metrics = new Metrics(BUILD)
  metrics.attach({ readings: () => Promise.resolve(READINGS), clock })
  const well = figures((await metrics.text()).body)
  expect(well).toMatchObject({ wakeful_store_up: 1, wakeful_inbox_waiting: 9 })
  expect(well['wakeful_shards{pool="app",owner="nobody"}']).toBe(3)
  metrics.observer.storeFailed('claim')
  metrics.attach({ readings: () => Promise.reject(new Error('gone')), clock })
  const failing = figures((await metrics.text()).body)
  expect(failing.wakeful_store_up).toBe(0)
  expect(
    Object.keys(failing).filter((name) => /^wakeful_(?:shards|lag|backlog|in_flight|inbox)/.test(name)),
  ).toEqual([])
  expect(failing['wakeful_store_errors_total{call="claim"}']).toBe(1)
  metrics.attach({ readings: () => Promise.resolve({ ...READINGS, takesWrites: false }), clock })
  expect(figures((await metrics.text()).body)).toMatchObject({
    wakeful_store_up: 0,
    wakeful_inbox_waiting: 9,
  })
  metrics.attach({ readings: () => new Promise(() => {}), clock })
  const hanging = metrics.text()
  await clock.advance(1_000)
  expect(figures((await hanging).body).wakeful_store_up).toBe(0)
})

test('pools beyond a small number share a label, those that run here last', async () => {
  const metrics = new Metrics(BUILD)
  const pools = Array.from({ length: 100 }, (_, at) => {
    return {
      pool: `p${at}`,
      here: at === 99 ? 64 : 0,
      elsewhere: 0,
      nobody: at === 99 ? 0 : 64,
      lagMs: at,
      withoutHandlerMs: 0,
    }
  })
  const clock = new VirtualClock()
  metrics.attach({ readings: () => Promise.resolve({ ...READINGS, pools }), clock })
  const values = figures((await metrics.text()).body)
  const lags = Object.keys(values).filter((name) => name.startsWith('wakeful_lag_seconds'))
  expect(lags).toHaveLength(21)
  expect(values['wakeful_shards{pool="p99",owner="here"}']).toBe(64)
  expect(values['wakeful_shards{pool="other",owner="nobody"}']).toBe(80 * 64)
  expect(values['wakeful_lag_seconds{pool="other"}']).toBe(0.098)
})

test('the store is read once a second, however often it is scraped', async () => {
  const metrics = new Metrics(BUILD)
  const clock = new VirtualClock()
  let looks = 0
  const readings = () => {
    looks += 1
    return Promise.resolve(READINGS)
  }
  metrics.attach({ readings, clock })
  await Promise.all(Array.from({ length: 20 }, () => metrics.text()))
  await clock.advance(999)
  await metrics.text()
  expect(looks).toBe(1)
  await clock.advance(1)
  await metrics.text()
  expect(looks).toBe(2)
})

test('requests and connections are counted under a bounded number of labels', async () => {
  const metrics = new Metrics(BUILD)
  const request = { method: 'GET', route: '/v1/alarms/:id', status: 200 }
  metrics.request(request, 20)
  metrics.request({ ...request, method: 'BREW' }, 20)
  for (let i = 0; i < 400; i++) metrics.request({ ...request, route: `/r${i}` }, 20)
  const close = metrics.connected('ws')
  metrics.connected('ws')
  close()
  close()
  const { contentType, body } = await metrics.text()
  const all = figures(body)
  expect(contentType).toContain('text/plain')
  expect(all['wakeful_http_requests_total{method="GET",route="/v1/alarms/:id",status="200"}']).toBe(1)
  expect(all['wakeful_http_requests_total{method="OTHER",route="/v1/alarms/:id",status="200"}']).toBe(1)
  expect(all['wakeful_http_requests_total{method="GET",route="other",status="200"}']).toBe(101)
  expect(
    all['wakeful_http_request_duration_seconds_bucket{le="0.025",method="GET",route="/v1/alarms/:id"}'],
  ).toBe(1)
  expect(all['wakeful_connections{kind="ws"}']).toBe(1)
  expect(all['wakeful_build_info{version="1.2.3",node="v26"}']).toBe(1)
})

test('every metric exists from the start, and none has a label for tenants or owners', async () => {
  const { body } = await new Metrics({ ...BUILD, process: true }).text()
  for (const { name, type, labels } of METRIC_LIST) {
    expect(body).toContain(`# TYPE ${name} ${type}`)
    expect(labels.filter((label) => /tenant|alarm|key|subject|url|endpoint/.test(label))).toEqual([])
  }
  expect(body).toContain('process_resident_memory_bytes')
})

test('counters exist with 0 from the start, so that the first increase is seen', async () => {
  const all = figures((await new Metrics(BUILD).text()).body)
  const expected = [
    'wakeful_skipped_total{reason="misfire"}',
    'wakeful_attempts_total{target="webhook",outcome="failed"}',
    'wakeful_store_errors_total{call="claim"}',
    'wakeful_sets_total{outcome="created"}',
    'wakeful_http_requests_total{method="POST",route="/v1/alarms",status="503"}',
    'wakeful_reports_overdue_total',
  ]
  expect(expected.map((name) => all[name])).toEqual(expected.map(() => 0))
  expect(Object.keys(all).length).toBeLessThan(400)
})

test('every target kind has its labels from the start', async () => {
  await using at = await bench()
  at.wakeful.handle('work', () => {})
  await at.wakeful.start()
  const there = new Set(Object.keys(await at.read()))
  await at.wakeful.defaultTarget.put('inbox')
  for (const target of ['work', 'inbox', { event: true }, { default: true }])
    await at.wakeful.set({ delay: '1s' }, { ...BASE, maxFailures: 1, target: target as never })
  await at.clock.advance('5s')
  const counted = Object.keys(named(await at.read(), 'wakeful_attempts_total'))
  expect([counted.length, counted.filter((name) => !there.has(name))]).toEqual([4, []])
})

test('the quick histogram agrees with prom-client’s', async () => {
  const definition = {
    name: 'x',
    type: 'histogram',
    help: 'h',
    labels: ['target'],
    buckets: [0.5, 1, 2],
  } as const
  const [ours, theirs] = [new Registry(), new Registry()]
  const quick = new QuickHistogram(definition, ours)
  const slow = new Histogram({
    ...definition,
    labelNames: ['target'],
    buckets: [0.5, 1, 2],
    registers: [theirs],
  })
  for (const [target, value] of [
    ['a', 0.5],
    ['a', 0.6],
    ['b', 3],
    ['a', 0],
    ['b', 1],
  ] as const) {
    quick.observe(target, value)
    slow.observe({ target }, value)
  }
  expect(figures(await ours.metrics())).toEqual(figures(await theirs.metrics()))
})
