import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { EventView, Wakeful } from '../library/index.ts'
import { openTest } from './open-test.ts'

const T0 = Date.parse('2030-01-01T00:00:00Z')

async function log(wakeful: Wakeful): Promise<EventView[]> {
  return Array.fromAsync(wakeful.events())
}

describe('a started engine under virtual time', () => {
  test('fires at its instant, to the millisecond, and not before (never-early)', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    const fired: number[] = []
    wakeful.handle('remind', (fire) => void fired.push(fire.firedAt.getTime() - T0))
    await wakeful.start()
    for (const delay of ['1ms', '2ms', '999ms', '1s', '1001ms', '3 hours'])
      await wakeful.set({ delay }, { target: 'remind' })
    await clock.advance(3 * 3_600_000 - 1)
    expect(fired).toEqual([1, 2, 999, 1000, 1001])
    await clock.advance(1)
    expect(fired.at(-1)).toBe(3 * 3_600_000)
  })

  test('fires in the order of the instants, whatever the order of setting', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    const fired: unknown[] = []
    wakeful.handle('remind', (fire) => void fired.push(fire.payload))
    await wakeful.start()
    const delays = [50, 3, 7000, 61_000, 1, 2500, 8]
    await wakeful.setMany(delays.map((ms) => ({ when: { delay: `${ms}ms` }, target: 'remind', payload: ms })))
    await clock.advance('2m')
    expect(fired).toEqual([...delays].sort((a, b) => a - b))
  })

  test('retries with a doubling backoff, then fails', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    const tried: number[] = []
    wakeful.handle('flaky', () => {
      tried.push(clock.now())
      throw new Error('not today')
    })
    await wakeful.start()
    const { id } = await wakeful.set({ delay: '1s' }, { target: 'flaky', maxFailures: 4 })
    await clock.advance('1h')
    const waits = tried.slice(1).map((at, i) => at - tried[i]!)
    expect(tried).toHaveLength(4)
    for (const [i, base] of [5_000, 10_000, 20_000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(base)
      expect(waits[i]).toBeLessThanOrEqual(base * 1.1)
    }
    const alarm = await wakeful.get(id)
    expect(alarm).toMatchObject({
      status: 'failed',
      attempts: 4,
      result: 'FAILED: not today (after 4 attempts)',
    })
    const types = (await log(wakeful)).map(({ type }) => type)
    expect(types).toEqual([...Array(3).fill('alarm.attempt_failed'), 'alarm.failed'])
  })

  test('ends an attempt that never returns after its timeout, with its signal aborted', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    const signals: AbortSignal[] = []
    wakeful.handle('hang', (fire) => {
      signals.push(fire.signal)
      return new Promise(() => {})
    })
    await wakeful.start()
    const { id } = await wakeful.set({ delay: '1s' }, { target: 'hang', timeout: '30s', maxFailures: 2 })
    await clock.advance(30_999)
    expect((await wakeful.get(id))!.attempts).toBe(0)
    expect(signals[0]!.aborted).toBe(false)
    await clock.advance(1)
    expect((await wakeful.get(id))!.lastError).toBe('no answer within 30s')
    expect(signals[0]!.aborted).toBe(true)
    await clock.advance('1m')
    expect(await wakeful.get(id)).toMatchObject({ status: 'failed', attempts: 2 })
  })

  test('times out a report that never comes, exactly at its completion timeout', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    wakeful.handle('ask', () => {})
    await wakeful.start()
    const { id } = await wakeful.set(
      { delay: '1s' },
      { target: 'ask', ack: 'report', completionTimeout: '10m' },
    )
    await clock.advance(600_999)
    expect((await wakeful.get(id))!.status).toBe('fired')
    await clock.advance(1)
    expect(await wakeful.get(id)).toMatchObject({ status: 'timed_out', result: 'timeout_unknown' })
  })

  test('takes a report in time, with its duration', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    wakeful.handle('ask', () => {})
    await wakeful.start()
    const { id } = await wakeful.set({ delay: '1s' }, { target: 'ask', ack: 'report' })
    await clock.advance('61s')
    await wakeful.complete(id, 'answered')
    await clock.advance('1h')
    expect(await wakeful.get(id)).toMatchObject({
      status: 'completed',
      result: 'answered',
      durationMs: 60_000,
    })
  })

  test('runs crons through a day of a zone in seconds, each tick once and on time', async () => {
    await using bench = await openTest({ clock: '2030-03-31T00:00:00+01:00' })
    const { wakeful, clock } = bench
    const fired: string[] = []
    wakeful.handle('tick', (fire) => void fired.push(`${fire.firedAt.toISOString()} +${fire.driftMs}`))
    await wakeful.start()
    await wakeful.set({ cron: '30 */4 * * *', timezone: 'Europe/Rome' }, { target: 'tick' })
    await wakeful.set({ cron: '* * * * *' }, { target: { event: true } })
    await clock.advance('23h')
    // That night Rome's clocks go from 02:00 to 03:00: its day has 23 hours.
    // Every fourth hour is an interval, which keeps its spacing from midnight on.
    const hours = ['2030-03-30T23:30', '2030-03-31T03:30', '2030-03-31T07:30', '2030-03-31T11:30']
    hours.push('2030-03-31T15:30', '2030-03-31T19:30')
    expect(fired).toEqual(hours.map((hour) => `${hour}:00.000Z +0`))
    const minutes = (await log(wakeful)).filter(({ type }) => type === 'schedule.ticked')
    expect(minutes).toHaveLength(23 * 60)
    expect(minutes.every(({ data }) => data.drift_ms === 0)).toBe(true)
  })

  test('drains thousands that are due together without moving the clock', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    await wakeful.start()
    const due = { delay: '1m' }
    for (let i = 0; i < 3; i++)
      await wakeful.setMany(Array.from({ length: 1000 }, () => ({ when: due, target: { event: true } })))
    await clock.advance('1m')
    const events = await log(wakeful)
    expect(events).toHaveLength(3000)
    expect(events.every(({ data }) => data.drift_ms === 0)).toBe(true)
  })
})

describe('an engine run by hand', () => {
  test('fires what is due and says when to come back', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    const fired: unknown[] = []
    wakeful.handle('remind', (fire) => void fired.push(fire.payload))
    await wakeful.setMany([
      { when: { delay: '1m' }, target: 'remind', payload: 'first' },
      { when: { delay: '1h' }, target: 'remind', payload: 'second' },
    ])
    expect(await wakeful.tick()).toEqual({ fired: 0, nextWakeAt: new Date(T0 + 60_000) })
    await clock.advance('1m')
    expect(fired).toEqual([])
    expect(await wakeful.tick()).toEqual({ fired: 1, nextWakeAt: new Date(T0 + 3_600_000) })
    await clock.advance('59m')
    expect(await wakeful.tick()).toEqual({ fired: 1, nextWakeAt: null })
    expect(fired).toEqual(['first', 'second'])
  })

  test('runs a transactional handler in memory too, and counts it', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    wakeful.handle('write', (fire) => void fire.tx, { transactional: true })
    const { id } = await wakeful.set({ delay: '1s' }, { target: 'write' })
    await clock.advance('1s')
    expect(await clock.until(wakeful.tick())).toMatchObject({ fired: 1 })
    expect((await wakeful.get(id))!.status).toBe('fired')
  })

  test('gives a handler that hangs its timeout, when time passes with the tick', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    wakeful.handle('hang', () => new Promise(() => {}))
    const { id } = await wakeful.set({ delay: '1s' }, { target: 'hang', timeout: '20s', maxFailures: 1 })
    await clock.advance('1s')
    expect(await clock.until(wakeful.tick())).toMatchObject({ fired: 0 })
    expect(clock.now() - T0).toBe(21_000)
    expect((await wakeful.get(id))!.status).toBe('failed')
  })
})

test('closing passes the time that the drain needs', async () => {
  const { wakeful, clock, close } = await openTest({ drain: '10s' })
  let aborted: unknown = null
  wakeful.handle('hang', (fire) => {
    fire.signal.addEventListener('abort', () => {
      aborted = fire.signal.reason
    })
    return new Promise(() => {})
  })
  await wakeful.start()
  await wakeful.set({ delay: '1s' }, { target: 'hang' })
  await clock.advance('1s')
  await close()
  expect([aborted, clock.now() - T0]).toEqual(['drain', 11_000])
})

test('a webhook is sent to a real server while virtual time stands still', async () => {
  const arrived: string[] = []
  const server = createServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`)
    setTimeout(() => response.writeHead(arrived.length < 3 ? 503 : 200).end(), 10)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await using bench = await openTest({ allowPrivateTargets: true })
  const { wakeful, clock } = bench
  await wakeful.start()
  const { id } = await wakeful.set(
    { delay: '3 days' },
    { target: { webhook: `http://127.0.0.1:${port}/wake` } },
  )
  await clock.advance('3 days')
  expect(arrived).toEqual(['POST /wake'])
  await clock.advance('1m')
  expect(await wakeful.get(id)).toMatchObject({ status: 'fired', attempts: 3 })
  server.closeAllConnections()
  server.close()
})
