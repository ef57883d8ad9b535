import { afterEach, describe, expect, it } from 'vitest'
import type { DeclaredAlarm, Fire } from '../../src/index.ts'
import { openTest, type TestBench, VirtualClock } from '../../src/testing/index.ts'

const open: TestBench[] = []
afterEach(async () => {
  for (const bench of open.splice(0)) await bench.close()
})

const HOURLY = { cron: '0 * * * *' }

describe('a list that is declared every day', () => {
  const firedBy = async (items: DeclaredAlarm[], days: number, from = '2030-01-01T06:00:00Z') => {
    const clock = new VirtualClock(from)
    const fired: Record<string, string[]> = Object.fromEntries(items.map(({ key }) => [key, []]))
    const bench = await openTest({ clock, retention: '1d' })
    open.push(bench)
    bench.wakeful.handle('tick', ({ alarm, occurrence }: Fire) => {
      fired[alarm.key!]!.push(occurrence.scheduledFor.toISOString().slice(0, 10))
    })
    await bench.wakeful.start()
    for (let day = 0; day < days; day++) {
      const { created, changed } = await bench.wakeful.apply(items)
      if (day > 0) expect({ day, created, changed }).toEqual({ day, created: [], changed: [] })
      await clock.advance('1 day')
    }
    return fired
  }

  it('keeps the days of phrases that count from the first', async () => {
    const times = {
      'every other tuesday at 9am': 5,
      'every 3 days at 9am': 24,
      weekly: 10,
      'every day at 9am starting tomorrow': 69,
    }
    const items = Object.keys(times).map((when) => ({ key: when, when, target: 'tick' }))
    const fired = await firedBy(items, 70)
    expect(Object.fromEntries(Object.entries(fired).map(([when, days]) => [when, days.length]))).toEqual(
      times,
    )
  })

  it('takes phrases of every month on the 31st, and keeps their day', async () => {
    const items = ['monthly', 'every month at 5am'].map((when) => ({ key: when, when, target: 'tick' }))
    expect(await firedBy(items, 32, '2030-01-31T06:00:00Z')).toEqual({
      monthly: ['2030-01-31', '2030-02-28'],
      'every month at 5am': ['2030-02-28'],
    })
  })

  it('never fires a one-shot again, also when its log is old', async () => {
    const once = { key: 'k', when: '2030-01-02T00:00:00Z', target: 'tick' }
    expect(await firedBy([once], 6)).toEqual({ k: ['2030-01-02'] })
  })

  it('keeps the alarm of a rule that is over for the list that declares it now, whoever set it', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock, retention: '1d' })
    open.push(bench)
    const { wakeful } = bench
    wakeful.handle('tick', () => {})
    await wakeful.start()
    const when = 'every day at 9am until 2030-01-03'
    const item = { key: 'k', when, target: 'tick' }
    await wakeful.set(when, { key: 'k', target: 'tick', message: 'changed by an operator' })
    await clock.advance('66h')
    for (const name of ['one', 'two', 'two']) {
      expect((await wakeful.apply([item], { name })).unchanged).toEqual(['k'])
      if (name === 'two') await wakeful.apply([], { name: 'one', prune: true })
      await clock.advance('4 days')
    }
    expect((await wakeful.getByKey('k'))?.declaredBy).toBe('two')
  })

  it('does not fire a one-shot again that an operator has moved', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    let fired = 0
    wakeful.handle('tick', () => {
      fired += 1
    })
    await wakeful.start()
    const list = [{ key: 'k', when: '2030-01-01T07:00:00Z', target: 'tick' }]
    await wakeful.apply(list)
    await wakeful.reschedule({ key: 'k' }, '2030-01-01T08:00:00Z')
    await clock.advance('3h')
    expect((await wakeful.apply(list)).unchanged).toEqual(['k'])
    await clock.advance('1h')
    expect(fired).toBe(1)
  })

  it('lets retention delete what has ended and leaves the list', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock, retention: '1d' })
    open.push(bench)
    const { wakeful } = bench
    wakeful.handle('tick', () => {})
    await wakeful.start()
    const one = (key: string) => ({ key, when: '2030-01-02T00:00:00Z', target: 'tick' })
    await wakeful.apply([one('fired'), one('cancelled'), one('stays')])
    await wakeful.cancel({ key: 'cancelled' })
    await clock.advance('10 days')
    const left = await wakeful.apply([one('stays')], { prune: true })
    expect(left).toMatchObject({ unchanged: ['stays'], removed: [] })
    const { id } = (await wakeful.getByKey('fired'))!
    const story = (await wakeful.why(id)).story.map(({ text }) => text)
    expect(story.at(-1)).toBe('left the list default that declared it: retention may delete it')
    await clock.advance('3 days')
    const keys = (await wakeful.list()).items.map(({ key }) => key)
    expect(keys).toEqual(['stays'])
  })

  it.each([
    ['every day at 9am until 2030-01-03'],
    [{ cron: '0 9 * * *', end: '2030-01-03T23:00:00Z' }],
    [{ rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0;UNTIL=20300103T230000Z' }],
    [{ rrule: 'DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;COUNT=3' }],
    [{ cron: '0 9 * * *', end: '2030-01-06T23:00:00Z', exclude: { weekend: ['fri', 'sat', 'sun'] } }],
  ])('leaves the alarm of a rule that is over as it is: %j', async (when) => {
    const days = await firedBy([{ key: 'k', when, target: 'tick' }], 6)
    expect(days).toEqual({ k: ['2030-01-01', '2030-01-02', '2030-01-03'] })
  })

  it('goes on with its rules, whatever else each deploy changes', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    const fired: Record<string, string[]> = { interval: [], third: [], twice: [], snoozed: [] }
    wakeful.handle('tick', ({ alarm, occurrence, payload }: Fire) => {
      const { version } = payload as { version: number }
      fired[alarm.key!]!.push(`${occurrence.scheduledFor.toISOString().slice(5, 13)} v${version}`)
    })
    await wakeful.start()
    for (let version = 1; version <= 7; version++) {
      const rest = { target: 'tick', payload: { version } }
      const { changed } = await wakeful.apply([
        { key: 'interval', when: { every: '24h' }, ...rest },
        { key: 'third', when: 'every 3 days at 9am', ...rest },
        { key: 'twice', when: { every: '24h', count: 2 }, ...rest },
        { key: 'snoozed', when: { at: '2030-01-01T07:00:00Z' }, ...rest },
      ])
      // What has ended is left alone.
      if (version > 1) expect(changed).toContain('interval')
      if (version === 1) await wakeful.snooze({ key: 'snoozed' }, { at: '2030-01-03T07:00:00Z' })
      await clock.advance('23h')
    }
    expect(fired).toEqual({
      interval: ['01-02T06 v2', '01-03T06 v3', '01-04T06 v4', '01-05T06 v5', '01-06T06 v6', '01-07T06 v7'],
      third: ['01-01T09 v1', '01-04T09 v4', '01-07T09 v7'],
      twice: ['01-02T06 v2', '01-03T06 v3'],
      snoozed: ['01-03T07 v3'],
    })
  })

  it('refuses a rule that is over, if its alarm is defined in another way or there is none', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    await wakeful.apply([{ key: 'k', when: 'every day at 9am', target: 'tick' }])
    const ended = { when: 'every day at 9am until 2020-01-01', target: 'tick' }
    const other = { key: 'other', when: 'every hour', target: 'tick' }
    await expect(wakeful.apply([other, { key: 'k', ...ended }])).rejects.toMatchObject({
      reason: 'rule.outside_bounds',
      field: 'items[1].end',
    })
    await expect(wakeful.apply([{ key: 'new', ...ended }])).rejects.toThrow('never fires')
    expect(await wakeful.getByKey('other')).toBeNull()
  })

  it('leaves a snoozed one-shot where it is, and sets what was removed from the list anew', async () => {
    const clock = new VirtualClock('2030-01-01T00:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    let fired = 0
    wakeful.handle('tick', () => {
      fired += 1
    })
    await wakeful.start()
    const list = [{ key: 'k', when: { at: '2030-01-01T01:00:00Z' }, target: 'tick' }]
    await wakeful.apply(list)
    await wakeful.snooze({ key: 'k' }, { at: '2030-01-01T02:00:00Z' })
    expect((await wakeful.apply(list)).unchanged).toEqual(['k'])
    await clock.advance('3h')
    expect((await wakeful.apply(list)).unchanged).toEqual(['k'])
    expect(fired).toBe(1)
    const later = [{ key: 'later', when: { at: '2030-01-02T00:00:00Z' }, target: 'tick' }]
    await wakeful.apply(later, { name: 'b' })
    expect((await wakeful.apply([], { name: 'b', prune: true })).removed).toEqual(['later'])
    expect((await wakeful.apply(later, { name: 'b' })).created).toEqual(['later'])
  })
})

it('a second, longer snooze skips what comes before its end, as a first one does', async () => {
  const clock = new VirtualClock('2030-01-01T00:30:00Z')
  const bench = await openTest({ clock })
  open.push(bench)
  const { wakeful } = bench
  const fired: string[] = []
  wakeful.handle('tick', ({ firedAt }: Fire) => {
    fired.push(firedAt.toISOString().slice(11, 16))
  })
  await wakeful.start()
  const { id } = await wakeful.set(HOURLY, { target: 'tick' })
  await wakeful.snooze(id, '10m')
  await wakeful.snooze(id, '50m')
  await clock.advance('2h')
  expect(fired).toEqual(['01:20', '02:00'])
})
