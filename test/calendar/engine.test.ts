import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTest, type TestBench } from '../../src/testing/index.ts'

/** The calendar under the engine: catch-up, jitter, phrases. Virtual time jumps. */
let bench: TestBench
let fired: { at: string; drift: number; after: number }[]

beforeEach(async () => {
  bench = await openTest({ clock: '2027-03-01T00:00:00Z' })
  fired = []
  bench.wakeful.handle('x', (fire) => {
    const { scheduledFor } = fire.occurrence
    const after = fire.firedAt.getTime() - scheduledFor.getTime()
    fired.push({ at: scheduledFor.toISOString(), drift: fire.driftMs, after })
  })
})
afterEach(() => bench.close())

async function skipped() {
  const events = await Array.fromAsync(bench.wakeful.events())
  return events.filter(({ type }) => type === 'alarm.skipped').map(({ data }) => [data.reason, data.count])
}

describe('ten days down under a per-minute cron', () => {
  const down = async (misfire: object | string) => {
    await bench.wakeful.set({ cron: '* * * * *', misfire: misfire as 'once' }, { target: 'x' })
    await bench.clock.advance('10 days')
    await bench.wakeful.tick()
  }

  it('once: the newest fires, the others become one record', async () => {
    await down('once')
    expect(fired.map(({ at }) => at)).toEqual(['2027-03-11T00:00:00.000Z'])
    expect(await skipped()).toEqual([['misfire', 14_399]])
  })

  it('skip: none fires, all become one record', async () => {
    await down('skip')
    expect(fired).toEqual([])
    expect(await skipped()).toEqual([['misfire', 14_400]])
  })

  it('all with max: the newest fire, oldest first', async () => {
    await down({ all: { max: 50, within: '10d' } })
    expect(fired).toHaveLength(50)
    expect([fired[0]!.at, fired.at(-1)!.at]).toEqual(['2027-03-10T23:11:00.000Z', '2027-03-11T00:00:00.000Z'])
    expect(await skipped()).toEqual([['misfire', 14_350]])
  })

  it('all with within: none older than that fires', async () => {
    await down({ all: { max: 1000, within: '30m' } })
    expect(fired[0]!.at).toBe('2027-03-10T23:30:00.000Z')
    expect(fired).toHaveLength(31)
    expect(await skipped()).toEqual([['misfire', 14_369]])
  })

  it('all: every one fires within the bounds', async () => {
    await down({ all: { max: 20_000, within: '30d' } })
    expect(fired).toHaveLength(14_400)
    expect(new Set(fired.map(({ at }) => at)).size).toBe(14_400)
    expect(await skipped()).toEqual([])
  })
})

describe('a count', () => {
  it('includes skipped occurrences, however many', async () => {
    const alarm = await bench.wakeful.set({ cron: '* * * * * *', count: 50_000 }, { target: 'x' })
    await bench.clock.advance('1 day')
    await bench.wakeful.tick()
    expect(fired).toHaveLength(1)
    expect(fired[0]!.at).toBe('2027-03-01T13:53:20.000Z')
    expect((await bench.wakeful.get(alarm.id))?.status).toBe('completed')
    expect(await skipped()).toEqual([['misfire', 49_999]])
  })
})

describe('a count under misfire all', () => {
  it('drops no more than the rule has left', async () => {
    const misfire = { all: { max: 1000, within: '1h' } }
    const alarm = await bench.wakeful.set({ cron: '* * * * *', count: 5, misfire }, { target: 'x' })
    await bench.clock.advance('1 day')
    await bench.wakeful.tick()
    expect(fired).toEqual([])
    expect(await skipped()).toEqual([['misfire', 5]])
    expect((await bench.wakeful.get(alarm.id))?.status).toBe('completed')
  })
})

describe('jitter', () => {
  it('delays each wake within bounds, keeps the scheduled instant, and is not late', async () => {
    const { wakeful, clock } = bench
    const { id } = await wakeful.set({ every: '1h', jitter: '10m', count: 20 }, { target: 'x' })
    for (
      let next = (await wakeful.tick()).nextWakeAt;
      next !== null;
      next = (await wakeful.tick()).nextWakeAt
    ) {
      await clock.advanceTo(next)
    }
    const delays = fired.map(({ after }) => after)
    expect(fired).toHaveLength(20)
    expect(fired.map(({ drift }) => drift)).toEqual(fired.map(() => 0))
    const events = await Array.fromAsync(wakeful.events({ alarmId: id }))
    expect(events.map(({ data }) => data.drift_ms)).toEqual(fired.map(() => 0))
    expect(fired.every(({ at }) => at.endsWith(':00:00.000Z'))).toBe(true)
    expect(Math.max(...delays)).toBeLessThanOrEqual(10 * 60_000)
    expect(new Set(delays).size).toBeGreaterThan(1)
  })
})

it('fires now on request, without jitter', async () => {
  const { wakeful, clock } = bench
  const { id } = await wakeful.set({ every: '1d', jitter: '12h' }, { target: 'x' })
  await clock.advance('1s')
  await wakeful.fireNow(id)
  await wakeful.tick()
  expect(fired).toEqual([{ at: '2027-03-01T00:00:01.000Z', drift: 0, after: 0 }])
})

describe('an rrule', () => {
  it('fires by the rule, ends with its COUNT, and is returned on the wire as it was set', async () => {
    const { wakeful, clock } = bench
    const rrule = 'DTSTART;TZID=Europe/Rome:20270301T090000\nRRULE:FREQ=DAILY;COUNT=3'
    const alarm = await wakeful.set({ rrule }, { target: 'x' })
    expect(JSON.parse((await wakeful.wire(alarm.id))!)).toMatchObject({
      kind: 'rrule',
      rrule,
      timezone: 'Europe/Rome',
    })
    for (let day = 0; day < 3; day++) {
      const { nextWakeAt } = await wakeful.tick()
      await clock.advanceTo(nextWakeAt!)
      await wakeful.tick()
    }
    expect(fired.map(({ at }) => at)).toEqual([
      '2027-03-01T08:00:00.000Z',
      '2027-03-02T08:00:00.000Z',
      '2027-03-03T08:00:00.000Z',
    ])
    expect((await wakeful.get(alarm.id))?.status).toBe('completed')
  })

  it('results from a phrase', async () => {
    const alarm = await bench.wakeful.set('every other tuesday at 9am', { target: 'x' })
    expect(alarm.kind).toBe('rrule')
    expect(alarm.nextFireAt?.toISOString()).toBe('2027-03-02T09:00:00.000Z')
  })
})
