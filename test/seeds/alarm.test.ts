import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTest, type TestBench } from '../../src/testing/index.ts'

/** Seed 001 (Alarm), operation by operation, under the contract's names. */
let bench: TestBench
let sent: unknown[]

beforeEach(async () => {
  bench = await openTest({ clock: '2026-03-02T10:00:00Z', timezone: 'UTC' })
  sent = []
  bench.wakeful.handle('pushover', (fire) => void sent.push(fire.payload))
  await bench.wakeful.start()
})
afterEach(() => bench.close())

const report = { target: 'pushover', ack: 'report' } as const

describe('set_timer', () => {
  it('takes a unix timestamp in seconds', async () => {
    const { wakeful, clock } = bench
    const alarm = await wakeful.set(
      { unix: 1_772_445_645 },
      { target: 'pushover', payload: { title: 'Reminder' } },
    )
    expect(alarm.nextFireAt?.getTime()).toBe(1_772_445_645_000)
    await clock.advanceTo(alarm.nextFireAt!)
    expect(sent).toEqual([{ title: 'Reminder' }])
  })

  it('takes natural language in a zone', async () => {
    const { wakeful } = bench
    const alarm = await wakeful.set('tomorrow at 9am', { target: 'pushover', timezone: 'Europe/Rome' })
    expect(alarm.nextFireAt?.toISOString()).toBe('2026-03-03T08:00:00.000Z')
    const soon = await wakeful.set('in 30 minutes', { target: 'pushover' })
    expect(soon.nextFireAt?.toISOString()).toBe('2026-03-02T10:30:00.000Z')
  })

  it('keeps provenance and retry options', async () => {
    const { wakeful } = bench
    const options = {
      target: 'pushover',
      createdBy: '1',
      createdVia: 'mcp',
      maxFailures: 4,
      backoff: { baseMs: 10_000 },
    }
    const alarm = await wakeful.set('tomorrow at 9am', options)
    expect(await wakeful.get(alarm.id)).toMatchObject({ createdBy: '1', createdVia: 'mcp', maxFailures: 4 })
  })

  it('refuses a bare number: seconds or milliseconds?', async () => {
    await expect(bench.wakeful.set(1_736_882_445 as never, { target: 'pushover' })).rejects.toMatchObject({
      code: 'invalid_time',
    })
  })
})

describe('the life of an alarm', () => {
  it('fires, is completed, and its duration is measured', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set('in 1 minute', report)
    await clock.advance('1 minute')
    expect(await wakeful.get(id)).toMatchObject({ status: 'fired', completedAt: null })
    await clock.advance('90s')
    const done = await wakeful.complete(id, 'sent to 3 recipients')
    expect(done).toMatchObject({ status: 'completed', result: 'sent to 3 recipients', durationMs: 90_000 })
  })

  it('is retried when the target says that delivery failed, with doubling delays and the same texts', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set('in 1 minute', { ...report, maxFailures: 3, backoff: { baseMs: 5000 } })
    await clock.advance('1 minute')
    const first = await wakeful.fail(id, 'HTTP 503')
    expect(first).toMatchObject({
      status: 'active',
      result: 'RETRY: HTTP 503 (attempt 1/3)',
      failureCount: 1,
    })
    const startedAt = first.startedAt
    expect(first.nextFireAt!.getTime() - clock.now()).toBeGreaterThanOrEqual(5000)
    expect(first.nextFireAt!.getTime() - clock.now()).toBeLessThanOrEqual(5500)
    await clock.advance('6s')
    const second = await wakeful.fail(id, 'HTTP 503')
    expect(second.nextFireAt!.getTime() - clock.now()).toBeGreaterThanOrEqual(10_000)
    await clock.advance('11s')
    const last = await wakeful.fail(id, 'HTTP 503')
    expect(last).toMatchObject({ status: 'failed', result: 'FAILED: HTTP 503 (after 3 attempts)', startedAt })
    expect(last).toMatchObject({ completedAt: null, durationMs: null })
    expect(sent).toHaveLength(3)
  })

  it('times out without a report within five minutes, and a late report still counts', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set('in 1 minute', report)
    await clock.advance('5m59s')
    expect((await wakeful.get(id))?.status).toBe('fired')
    await clock.advance('2s')
    expect(await wakeful.get(id)).toMatchObject({ status: 'timed_out', result: 'timeout_unknown' })
    expect(await wakeful.complete(id, 'ok after all')).toMatchObject({
      status: 'completed',
      completedAt: new Date(clock.now()),
      failureCount: 0,
      lastError: null,
      attempts: 1,
    })
  })

  it('has no completion after a late report of failure', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set('in 1 minute', report)
    await clock.advance('10 minutes')
    expect(await wakeful.fail(id, 'too late')).toMatchObject({
      status: 'failed',
      completedAt: null,
      failureCount: 1,
    })
  })
})

describe('queries', () => {
  async function oneOfEach() {
    const { wakeful, clock } = bench
    const ids: Record<string, string> = {}
    for (const name of ['completed', 'failed', 'timed_out', 'fired', 'cancelled', 'pending'] as const) {
      const when = name === 'pending' ? 'in 1 hour' : 'in 1 minute'
      ids[name] = (await wakeful.set(when, { ...report, maxFailures: 1, label: name })).id
    }
    await wakeful.cancel(ids.cancelled!)
    await clock.advance('1 minute')
    await wakeful.complete(ids.completed!, 'ok')
    await wakeful.fail(ids.failed!, 'no')
    await clock.advance('5 minutes')
    const late = await wakeful.set('in 1 second', { ...report, label: 'fired' })
    await clock.advance('1 second')
    return { ids, late }
  }

  it('history filters by status, process, time and limit, newest first', async () => {
    const { wakeful } = bench
    const { ids, late } = await oneOfEach()
    const labels = async (options: object) => (await wakeful.history(options)).map((alarm) => alarm.label)
    expect(await labels({ status: 'completed' })).toEqual(['completed'])
    expect(await labels({ status: 'failed' })).toEqual(['failed'])
    expect(await labels({ status: 'cancelled' })).toEqual(['cancelled'])
    expect(await labels({ status: 'timeout_unknown' })).toEqual(['fired', 'timed_out'])
    expect(await labels({ status: 'pending' })).toEqual(['pending'])
    expect((await wakeful.history({ status: 'fired' })).map((alarm) => alarm.id)).toEqual([late.id])
    expect(await labels({ process: 'nobody' })).toEqual([])
    expect(await labels({ process: 'pushover', limit: 2 })).toEqual(['fired', 'pending'])
    expect(await labels({ since: late.createdAt })).toEqual(['fired'])
    expect((await wakeful.history())[0]?.id).toBe(late.id)
    expect(Object.keys(ids)).toHaveLength(6)
  })

  it('stats and failed have the same figures', async () => {
    const { wakeful } = bench
    await oneOfEach()
    expect(await wakeful.stats()).toEqual({
      total: 7,
      pending: 1,
      fired: 1,
      completed: 1,
      failed: 1,
      cancelled: 1,
      timeoutUnknown: 2,
      avgDurationMs: 0,
    })
    expect((await wakeful.failed()).map((alarm) => alarm.label)).toEqual(['fired', 'timed_out', 'failed'])
    expect(await wakeful.failed({ limit: 1 })).toHaveLength(1)
  })

  it('lists pending alarms by due time, with the offset', async () => {
    const { wakeful, clock } = bench
    await wakeful.set('in 2 hours', { target: 'pushover', label: 'second' })
    await wakeful.set('in 1 hour', { target: 'pushover', label: 'first' })
    const { items } = await wakeful.list({ status: 'pending', order: 'due' })
    const offsets = items.map((alarm) => [alarm.label, (alarm.nextFireAt!.getTime() - clock.now()) / 1000])
    expect(offsets).toEqual([
      ['first', 3600],
      ['second', 7200],
    ])
  })

  it('lists nothing by due time that has no next instant', async () => {
    const { wakeful, clock } = bench
    const awaited = await wakeful.set('in 1 minute', report)
    const hourly = { every: '1h', start: new Date(clock.now() + 60_000) }
    const recurring = await wakeful.set(hourly, { ...report, completionTimeout: '1d' })
    await clock.advance('2 minutes')
    const between = await wakeful.set('in 30 minutes', { target: 'pushover' })
    expect(await wakeful.get(awaited.id)).toMatchObject({ status: 'fired', nextFireAt: null })
    const due = async (status?: 'pending') =>
      (await wakeful.list({ order: 'due', ...(status && { status }) })).items.map(({ id }) => id)
    expect(await due()).toEqual([between.id, recurring.id])
    expect(await due('pending')).toEqual([between.id, recurring.id])
    await expect(wakeful.list({ order: 'due', status: 'fired' })).rejects.toThrow(/have a next instant/)
  })

  it('answers its troubleshooting by why', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set('in 1 minute', { target: 'renamed' })
    await clock.advance('2 minutes')
    const story = await wakeful.why(id)
    expect(story.status).toBe('active')
    expect(story.next).toContain('registers the handler renamed')
    const timedOut = await wakeful.set('in 1 minute', report)
    await clock.advance('10 minutes')
    expect((await wakeful.why(timedOut.id)).story.at(-1)?.text).toBe('no report came in time')
  })
})

describe('cancel, reset, parse, restart', () => {
  it('cancels softly, and unknown ids are not found', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set('in 1 minute', { target: 'pushover' })
    await clock.advance('10 seconds')
    const cancelledAt = new Date(clock.now())
    const { outcome, alarm } = await wakeful.cancel(id)
    expect([outcome, alarm.cancelledAt]).toEqual(['cancelled', cancelledAt])
    await clock.advance('1 hour')
    expect(sent).toEqual([])
    expect(await wakeful.get(id)).toMatchObject({ status: 'cancelled', cancelledAt, updatedAt: cancelledAt })
    await expect(wakeful.cancel('nobody')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('resets all that is pending and keeps the records', async () => {
    const { wakeful, clock } = bench
    for (let i = 0; i < 3; i++) await wakeful.set('in 1 minute', { target: 'pushover' })
    expect(await wakeful.reset()).toEqual({ cancelled: 3, firing: 0 })
    await clock.advance('1 hour')
    expect(sent).toEqual([])
    expect(await wakeful.stats()).toMatchObject({ total: 3, pending: 0, cancelled: 3 })
  })

  it('parses without scheduling, and explains what it does not understand', async () => {
    const { wakeful } = bench
    expect(wakeful.parse('next friday at 3pm', 'America/New_York').instant?.toISOString()).toBe(
      '2026-03-06T20:00:00.000Z',
    )
    expect(() => wakeful.parse('when pigs fly')).toThrow(expect.objectContaining({ code: 'invalid_time' }))
    expect((await wakeful.stats()).total).toBe(0)
  })
})
