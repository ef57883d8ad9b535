import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTest, type TestBench } from '../../src/testing/index.ts'

/** Seed 002 (Timer): one timer per tenant and key, whose fire is an event of the log. */
let bench: TestBench

beforeEach(async () => {
  bench = await openTest({ clock: '2025-11-14T10:00:00Z' })
  await bench.wakeful.start()
})
afterEach(() => bench.close())

const options = {
  key: 'call-1',
  target: { event: true },
  correlationId: 'trace-1',
  subject: 'call-1',
} as const

async function eventsOf(tenant: string) {
  return Array.fromAsync(bench.wakeful.forTenant(tenant).events())
}

describe('one timer per tenant and key', () => {
  it('fires as timer.due_time_reached with its correlation id, never early', async () => {
    const { wakeful, clock } = bench
    await wakeful.forTenant('a').set({ delay: '10m' }, { ...options, payload: { call: 1 } })
    await clock.advance(10 * 60_000 - 1)
    expect(await eventsOf('a')).toEqual([])
    await clock.advance(1)
    const [event, ...more] = await eventsOf('a')
    expect(more).toEqual([])
    expect(event).toMatchObject({
      type: 'timer.due_time_reached',
      origin: 'scheduled',
      key: 'call-1',
      subject: 'call-1',
      correlationId: 'trace-1',
      data: { drift_ms: 0, payload: { call: 1 } },
    })
  })

  it('keeps when its wait began: the last set or reschedule, and nothing else', async () => {
    const { wakeful, clock } = bench
    const timers = wakeful.forTenant('a')
    const registered = async () => (await timers.getByKey('call-1'))!.registeredAt
    const { id } = await timers.set({ delay: '10m' }, { ...options, maxFailures: 1 })
    const first = new Date(clock.now())
    expect(await registered()).toEqual(first)
    await clock.advance('1m')
    for (const work of [
      () => timers.edit(id, { label: 'renamed' }),
      () => timers.pause(id),
      () => timers.resume(id),
    ]) {
      await work()
      expect(await registered()).toEqual(first)
    }
    const again = new Date(clock.now() + 1_000)
    await clock.advance('1s')
    await timers.set({ delay: '10m' }, { ...options, correlationId: 'trace-2' })
    expect(await registered()).toEqual(again)
    await clock.advance('1m')
    const moved = new Date(clock.now())
    await timers.reschedule(id, { delay: '1m' })
    expect(await registered()).toEqual(moved)
    await clock.advance('2m')
    expect((await timers.get(id))!.status).toBe('fired')
    expect(await registered()).toEqual(moved)
  })

  it('is reset by an upsert: due time, correlation id and state', async () => {
    const { wakeful, clock } = bench
    const timers = wakeful.forTenant('a')
    const first = await timers.set({ delay: '10m' }, options)
    await clock.advance('10m')
    expect((await timers.getByKey('call-1'))?.status).toBe('fired')
    const again = await timers.set({ delay: '5m' }, { ...options, correlationId: 'trace-2' })
    expect(again).toMatchObject({
      id: first.id,
      status: 'active',
      correlationId: 'trace-2',
      lastFiredAt: null,
    })
    await clock.advance('5m')
    const fires = (await eventsOf('a')).filter((event) => event.type === 'timer.due_time_reached')
    expect(fires.map((event) => event.correlationId)).toEqual(['trace-1', 'trace-2'])
    expect(new Set(fires.map((event) => event.occurrenceId)).size).toBe(2)
  })

  it('sees nothing of other tenants', async () => {
    const { wakeful, clock } = bench
    const [a, b] = [wakeful.forTenant('a'), wakeful.forTenant('b')]
    const alarm = await a.set({ delay: '1m' }, options)
    await b.set({ delay: '2m' }, options)
    expect(await b.get(alarm.id)).toBeNull()
    await expect(b.cancel(alarm.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await b.list({ correlationId: 'trace-1' })).items).toHaveLength(1)
    await clock.advance('1m')
    expect(await eventsOf('b')).toEqual([])
    expect(await eventsOf('a')).toHaveLength(1)
  })

  it('is found by correlation id', async () => {
    const timers = bench.wakeful.forTenant('a')
    await timers.set({ delay: '10m' }, options)
    await timers.set({ delay: '10m' }, { ...options, key: 'call-2' })
    await timers.set({ delay: '10m' }, { ...options, key: 'call-3', correlationId: 'other' })
    const { items } = await timers.list({ correlationId: 'trace-1' })
    expect(items.map((alarm) => alarm.key)).toEqual(['call-2', 'call-1'])
  })

  it('goes with its parent', async () => {
    const { wakeful, clock } = bench
    const timers = wakeful.forTenant('a')
    await timers.set({ delay: '10m' }, options)
    await timers.set({ delay: '10m' }, { ...options, key: 'kept', subject: 'call-9' })
    expect(await timers.removeSubject('call-1')).toEqual({ cancelled: 1, firing: 0 })
    await clock.advance('1h')
    const fires = (await eventsOf('a')).filter((event) => event.type === 'timer.due_time_reached')
    expect(fires.map((event) => event.key)).toEqual(['kept'])
  })
})
