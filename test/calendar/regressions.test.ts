import { describe, expect, test } from 'vitest'
import type { When } from '../../src/index.ts'
import { openTest, type TestBench, type TestOptions } from '../../src/testing/index.ts'
import { readCalendar } from '../../src/time/index.ts'
import { cpuMs } from '../cpu-time.ts'

/** Regressions, each as an adversarial tester found it. */

async function bench(clock: string, options: TestOptions = {}) {
  const made = await openTest({ clock, ...options })
  const fired: string[] = []
  const ids: string[] = []
  made.wakeful.handle('tick', (fire) => {
    fired.push(fire.occurrence.scheduledFor.toISOString().slice(0, 16))
    ids.push(fire.occurrence.id)
  })
  return { ...made, fired, ids, [Symbol.asyncDispose]: () => made.close() }
}

async function eventsOf({ wakeful }: Pick<TestBench, 'wakeful'>, type: string) {
  return (await Array.fromAsync(wakeful.events()))
    .filter((event) => event.type === type)
    .map(({ data }) => data)
}

const target = { target: 'tick' } as const

describe('days off across a clock change', () => {
  test('lose nothing in autumn', async () => {
    await using made = await bench('2026-10-23T12:00:00Z', { timezone: 'Europe/Rome' })
    await made.wakeful.set({ cron: '0 8,9 * * *', exclude: 'weekends' }, target)
    await made.wakeful.start()
    await made.clock.advance('4d')
    expect(made.fired).toEqual(['26T07:00', '26T08:00', '27T07:00', '27T08:00'].map((at) => `2026-10-${at}`))
    expect(await eventsOf(made, 'alarm.rescheduled')).toEqual([])
  })

  test('are logged once in spring', async () => {
    await using made = await bench('2027-03-26T12:00:00Z', { timezone: 'Europe/Rome' })
    await made.wakeful.set({ cron: '0 9 * * *', exclude: 'weekends', count: 5 }, target)
    await made.wakeful.start()
    await made.clock.advance('9d')
    expect(made.fired).toEqual(['2027-03-29T07:00', '2027-03-30T07:00', '2027-03-31T07:00'])
    expect(await eventsOf(made, 'alarm.skipped')).toMatchObject([{ count: 2 }])
  })
})

describe('an edited calendar', () => {
  test('does not fire again what moved to a day that has fired', async () => {
    await using made = await bench('2026-12-21T00:00:00Z')
    const { wakeful, clock, fired, ids } = made
    await wakeful.calendars.put('c', { dates: [] })
    await wakeful.set(
      { cron: '0 9 * * *', exclude: { calendars: 'c', weekend: [], move: 'previous' } },
      target,
    )
    await wakeful.start()
    await clock.advance('10h')
    await wakeful.calendars.put('c', { dates: ['2026-12-22'] })
    await clock.advance('2d')
    expect(fired).toEqual(['2026-12-21T09:00', '2026-12-23T09:00'])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('by a handler does not fire its own day again', async () => {
    await using made = await bench('2026-12-25T12:00:00Z')
    const { wakeful, clock } = made
    await wakeful.calendars.put('c', { dates: ['2026-12-26', '2026-12-27'] })
    const days: string[] = []
    wakeful.handle('edit', async (fire) => {
      days.push(fire.occurrence.scheduledFor.toISOString().slice(0, 10))
      await wakeful.calendars.put('c', { dates: ['2026-12-27'] })
    })
    await wakeful.set(
      { cron: '0 9 * * *', exclude: { calendars: 'c', weekend: [], move: 'next' } },
      { target: 'edit' },
    )
    await wakeful.start()
    await clock.advance('4d')
    expect(days).toEqual(['2026-12-28', '2026-12-29'])
  })

  test('fires nothing before the start, nor before it was set', async () => {
    await using made = await bench('2026-12-20T00:00:00Z')
    const { wakeful } = made
    await wakeful.calendars.put('c', { dates: [] })
    const exclude = { calendars: 'c', weekend: [], move: 'previous' as const }
    const { id } = await wakeful.set({ cron: '0 9 25 * *', start: '2026-12-24T00:00', exclude }, target)
    await wakeful.calendars.put('c', { dates: ['2026-12-25', '2026-12-24'] })
    expect((await wakeful.get(id))!.nextFireAt?.toISOString()).toBe('2027-01-25T09:00:00.000Z')
  })

  test('that was removed and written anew has its new contents', async () => {
    await using made = await bench('2026-12-20T00:00:00Z')
    const { calendars } = made.wakeful
    for (let round = 0; round < 20; round++) {
      await calendars.put('c', { dates: ['2026-12-22'] })
      await calendars.remove('c')
      expect((await calendars.put('c', { dates: ['2026-12-30'] })).dates).toEqual({ '2026-12-30': '' })
      await calendars.remove('c')
    }
  })

  test.each<[string, When]>([
    ['skips', { cron: '0 9 * * *', exclude: { calendars: 'c', weekend: ['wed', 'thu', 'fri'] } }],
    [
      'moves',
      { cron: '0 9 * * *', exclude: { calendars: 'c', weekend: ['wed', 'thu', 'fri'], move: 'next' } },
    ],
  ])('that leaves no working day makes a rule wait that %s', async (_, when) => {
    await using made = await bench('2026-12-19T12:00:00Z')
    const { wakeful, clock, fired } = made
    await wakeful.calendars.put('c', { weekend: ['mon', 'tue'] })
    const { id } = await wakeful.set(when, target)
    await wakeful.start()
    await wakeful.calendars.put('c', { weekend: ['mon', 'tue', 'sat', 'sun'] })
    await clock.advance('3d')
    expect((await wakeful.get(id))!.status).toBe('active')
    expect(fired).toEqual([])
    await wakeful.calendars.put('c', { weekend: ['mon', 'tue'] })
    await clock.advance('5d')
    expect(fired.at(-1)).toBe('2026-12-27T09:00')
  })
})

test('an .ics with an endless label is read at once', () => {
  const event = (label: string) =>
    `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20260101\r\nDTEND;VALUE=DATE:20800101\r\nSUMMARY:${label}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`
  const start = cpuMs()
  const { calendar } = readCalendar('c', { ics: event('x '.repeat(900_000)) }, 0)
  expect(calendar.dates['2026-01-01']!.length).toBeLessThanOrEqual(200)
  expect(cpuMs() - start).toBeLessThan(5_000)
})

describe('an rrule of two lines', () => {
  const rrule = 'RRULE:FREQ=MINUTELY;BYSECOND=0\nRRULE:FREQ=DAILY;BYHOUR=1;BYMINUTE=0;BYSECOND=30'

  test('accounts for all that was missed, within its count', async () => {
    await using made = await bench('2026-12-25T12:00:00Z')
    const { wakeful, clock, fired } = made
    const { id } = await wakeful.set({ rrule, count: 3000 }, target)
    await clock.advance('2d')
    await wakeful.tick()
    const [run] = await eventsOf(made, 'alarm.skipped')
    expect(run).toMatchObject({ count: 2881, to: '2026-12-27T11:59:00.000Z' })
    expect(fired).toEqual(['2026-12-27T12:00'])
    await wakeful.start()
    await clock.advance('1d')
    expect((await wakeful.get(id))!.status).toBe('completed')
    expect(fired).toHaveLength(3000 - 2881)
  })

  test('is previewed within its count', async () => {
    await using made = await bench('2026-12-24T12:00:00Z')
    const lines = 'RRULE:FREQ=DAILY;BYHOUR=2;BYMINUTE=0\nRRULE:FREQ=DAILY;BYHOUR=3;BYMINUTE=0'
    const { instants } = made.wakeful.preview({ rrule: lines, count: 3, exclude: 'weekends' }, { count: 20 })
    expect(instants.map(({ instant }) => instant.slice(0, 16))).toEqual([
      '2026-12-25T02:00',
      '2026-12-25T03:00',
    ])
  })
})

test('a rule that moves fires its newest once after ten years', async () => {
  await using made = await bench('2026-12-21T00:00:00Z')
  const { wakeful, clock, fired } = made
  await wakeful.set({ cron: '0 9 * * *', exclude: { weekend: true, move: 'next' } }, target)
  await clock.advance('3500d')
  while ((await wakeful.tick()).fired > 0);
  expect(fired).toHaveLength(1)
})

test('a jitter longer than the time between two instants is refused', async () => {
  await using made = await bench('2026-12-21T00:00:00Z')
  await expect(made.wakeful.set({ cron: '* * * * *', jitter: '1h' }, target)).rejects.toMatchObject({
    code: 'invalid_rule',
    message: /longer than the 1m between two instants/,
  })
})

test('fireNow fires now, also when the clock was set back', async () => {
  await using made = await bench('2026-12-21T00:00:00Z')
  const { wakeful, clock, fired } = made
  const { id } = await wakeful.set({ every: '30d' }, target)
  await wakeful.start()
  clock.jump('-1d')
  await wakeful.fireNow(id)
  await clock.advance('1s')
  expect(fired).toEqual(['2026-12-20T00:00'])
})

test('a tick reports what it fired, not what it skipped', async () => {
  await using made = await bench('2026-12-21T00:00:00Z')
  await made.wakeful.set({ cron: '* * * * *', misfire: 'skip' }, { target: { event: true } })
  await made.clock.advance('10d')
  expect((await made.wakeful.tick()).fired).toBe(0)
})
