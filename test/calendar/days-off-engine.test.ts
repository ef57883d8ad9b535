import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { When } from '../../src/index.ts'
import { openTest, type TestBench, type TestOptions, VirtualClock } from '../../src/testing/index.ts'

const T0 = '2026-12-21T00:00:00Z' // a Monday
const HOLIDAYS = { dates: { '2026-12-25': 'Christmas Day', '2027-01-01': 'New Year' } }

interface Run {
  readonly fired: string[]
  readonly skipped: readonly (readonly [string, string, string, unknown])[]
}

async function bench(options: TestOptions = {}) {
  const made = await openTest({ clock: T0, ...options })
  const fired: string[] = []
  made.wakeful.handle('tick', (fire) => {
    expect(fire.firedAt.getTime()).toBeGreaterThanOrEqual(fire.occurrence.scheduledFor.getTime())
    fired.push(fire.occurrence.scheduledFor.toISOString().slice(0, 16))
  })
  return { ...made, fired, [Symbol.asyncDispose]: () => made.close() }
}

async function eventsOf({ wakeful }: Pick<TestBench, 'wakeful'>, type: string) {
  const events = await Array.fromAsync(wakeful.events())
  return events.filter((event) => event.type === type).map(({ data }) => data)
}

/** Runs an alarm; returns what fired, and the runs in its log. */
async function run(
  when: When,
  days: number,
  before: (made: TestBench) => Promise<unknown> = async () => {},
): Promise<Run> {
  await using made = await bench()
  await made.wakeful.calendars.put('holidays', HOLIDAYS)
  await made.wakeful.set(when, { target: 'tick' })
  await before(made)
  await made.wakeful.start()
  await made.clock.advance(`${days}d`)
  const skipped = (await eventsOf(made, 'alarm.skipped')).map(
    ({ reason, from, to, count }) =>
      [String(reason), String(from).slice(0, 16), String(to).slice(0, 16), count] as const,
  )
  return { fired: made.fired, skipped }
}

describe('days off, under the engine', () => {
  test('are skipped, and a run of them is one record', async () => {
    const { fired, skipped } = await run({ cron: '0 9 * * *', exclude: ['holidays', 'weekends'] }, 9)
    expect(fired).toEqual(['21', '22', '23', '24', '28', '29'].map((day) => `2026-12-${day}T09:00`))
    expect(skipped).toEqual([['holiday', '2026-12-25T09:00', '2026-12-27T09:00', 3]])
  })

  test('of a rule that fires often are one record too, written after them', async () => {
    const { fired, skipped } = await run(
      { cron: '* * * * *', exclude: 'weekends', start: '2026-12-25T23:58' },
      7.1,
    )
    expect(fired.slice(0, 3)).toEqual(['2026-12-25T23:58', '2026-12-25T23:59', '2026-12-28T00:00'])
    expect(skipped).toEqual([['holiday', '2026-12-26T00:00', '2026-12-27T23:59', 2880]])
  }, 20_000)

  test('count, so that a rule can end on them', async () => {
    const { fired, skipped } = await run(
      { cron: '0 9 * * *', count: 6, exclude: ['holidays', 'weekends'] },
      10,
    )
    expect(fired).toEqual(['21', '22', '23', '24'].map((day) => `2026-12-${day}T09:00`))
    expect(skipped).toEqual([['holiday', '2026-12-25T09:00', '2026-12-26T09:00', 2]])
  })

  test('at the end of a rule are logged before the alarm ends', async () => {
    await using made = await bench()
    const { id } = await made.wakeful.set(
      { cron: '0 9 * * *', end: '2026-12-27T12:00', exclude: 'weekends' },
      { target: 'tick' },
    )
    await made.wakeful.start()
    await made.clock.advance('10d')
    expect(made.fired).toHaveLength(5)
    expect(await eventsOf(made, 'alarm.skipped')).toMatchObject([{ reason: 'holiday', count: 2 }])
    expect((await made.wakeful.get(id))!.status).toBe('completed')
  })

  test('move an instant to the next or the previous working day', async () => {
    const next = await run(
      { cron: '0 9 25 * *', exclude: { calendars: 'holidays', weekend: true, move: 'next' } },
      40,
    )
    expect(next).toEqual({ fired: ['2026-12-28T09:00', '2027-01-25T09:00'], skipped: [] })
    const previous = await run(
      { cron: '0 9 L * *', exclude: { calendars: 'holidays', weekend: true, move: 'previous' } },
      45,
    )
    expect(previous).toEqual({ fired: ['2026-12-31T09:00', '2027-01-29T09:00'], skipped: [] })
  })

  test('are logged by name, and moves with their origin', async () => {
    await using made = await bench()
    const { wakeful } = made
    await wakeful.calendars.put('holidays', {
      dates: { '2026-12-23': 'Staff Day', '2026-12-25': 'Christmas Day' },
    })
    const skips = await wakeful.set(
      { cron: '0 9 * * *', exclude: ['holidays', 'weekends'] },
      { target: 'tick' },
    )
    const moves = await wakeful.set(
      { cron: '0 9 25 * *', exclude: { calendars: 'holidays', move: 'next' } },
      { target: 'tick' },
    )
    await wakeful.start()
    await made.clock.advance('9d')
    expect(await eventsOf(made, 'alarm.skipped')).toMatchObject([
      { count: 1, days_off: ['Staff Day (holidays)'] },
      { count: 3, days_off: ['Christmas Day (holidays)', 'Saturday', 'Sunday'] },
    ])
    const moved = (await eventsOf(made, 'alarm.fired')).filter((data) => 'moved_from' in data)
    expect(moved).toMatchObject([
      { scheduled_for: '2026-12-28T09:00:00.000Z', moved_from: '2026-12-25T09:00:00.000Z' },
    ])
    const lines = (await wakeful.why(skips.id)).story.map(({ text }) => text)
    expect(lines).toContain(
      '3 occurrences skipped (holiday) from 2026-12-25T09:00:00.000Z to 2026-12-27T09:00:00.000Z: Christmas Day (holidays), Saturday, Sunday',
    )
    expect(lines).toContain(
      '1 occurrence skipped (holiday) on 2026-12-23T09:00:00.000Z: Staff Day (holidays)',
    )
    expect(moves.rule).toMatchObject({ exclude: { calendars: ['holidays'], weekend: [6, 7], move: 'next' } })
    expect((await wakeful.why(moves.id)).story[1]?.text).toBe(
      'delivered, 0 ms late for 2026-12-28T09:00:00.000Z, moved from 2026-12-25T09:00:00.000Z (attempt 1)',
    )
  })

  test('appear in lists, previews and why', async () => {
    await using made = await bench({ clock: '2026-12-24T10:00:00Z' })
    await made.wakeful.calendars.put('holidays', HOLIDAYS)
    const when = { cron: '0 9 * * *', exclude: ['holidays', 'weekends'] }
    const { id, nextFireAt } = await made.wakeful.set(when, { target: 'tick' })
    expect(nextFireAt?.toISOString()).toBe('2026-12-28T09:00:00.000Z')
    expect(made.wakeful.preview(when, { count: 1 }).instants[0]?.instant).toBe('2026-12-28T09:00:00.000Z')
    expect((await made.wakeful.why(id)).next).toContain('2026-12-28T09:00')
    await made.wakeful.skipNext(id)
    expect((await made.wakeful.get(id))!.nextFireAt?.toISOString()).toBe('2026-12-29T09:00:00.000Z')
    expect(await eventsOf(made, 'alarm.skipped')).toMatchObject([
      { reason: 'holiday', count: 3 },
      { reason: 'skip_next', count: 1 },
    ])
  })

  test.each([
    ['once', ['2026-12-31T09:00'], [['misfire', '2026-12-22T09:00', '2026-12-30T09:00', 9]]],
    ['skip', [], [['misfire', '2026-12-22T09:00', '2026-12-31T09:00', 10]]],
    [
      { all: { max: 100, within: '30d' } },
      ['22', '23', '24', '28', '29', '30', '31'].map((day) => `2026-12-${day}T09:00`),
      [['holiday', '2026-12-25T09:00', '2026-12-27T09:00', 3]],
    ],
  ] as const)('stay off after a long sleep (misfire %j)', async (misfire, late, missed) => {
    const { fired, skipped } = await run(
      { cron: '0 9 * * *', exclude: ['holidays', 'weekends'], misfire: misfire as 'once' },
      2,
      async ({ wakeful, clock }) => {
        await clock.advance('9h')
        await wakeful.tick()
        await clock.advance('11d')
      },
    )
    expect(fired).toEqual(['2026-12-21T09:00', ...late])
    expect(skipped.slice(0, missed.length)).toEqual(missed)
  })

  test('pass while an alarm is paused', async () => {
    await using made = await bench()
    await made.wakeful.calendars.put('holidays', HOLIDAYS)
    const { id } = await made.wakeful.set(
      { cron: '0 9 * * *', exclude: ['holidays', 'weekends'] },
      { target: 'tick' },
    )
    await made.wakeful.start()
    await made.clock.advance('4d')
    await made.wakeful.pause(id)
    await made.clock.advance('5d')
    await made.wakeful.resume(id)
    await made.clock.advance('1d')
    expect(made.fired).toEqual(['21', '22', '23', '24', '30'].map((day) => `2026-12-${day}T09:00`))
    expect(await eventsOf(made, 'alarm.skipped')).toMatchObject([{ reason: 'paused', count: 5 }])
  })
})

describe('a calendar that is edited', () => {
  const daily = { cron: '0 9 * * *', exclude: 'holidays' }

  test('moves pending occurrences at once, and logs it', async () => {
    await using made = await bench({ clock: '2026-12-24T10:00:00Z' })
    await made.wakeful.calendars.put('holidays', HOLIDAYS)
    const { id } = await made.wakeful.set(daily, { target: 'tick' })
    await made.wakeful.start()
    const nextAfter = async (dates: string[]) => {
      const { moved } = await made.wakeful.calendars.put('holidays', { dates })
      return [moved, (await made.wakeful.get(id))!.nextFireAt?.toISOString().slice(0, 10)]
    }
    expect(await nextAfter(['2026-12-25', '2026-12-26'])).toEqual([1, '2026-12-27'])
    expect(await nextAfter(['2026-12-26'])).toEqual([1, '2026-12-25'])
    expect(await nextAfter(['2026-12-26'])).toEqual([0, '2026-12-25'])
    await made.clock.advance('4d')
    expect(made.fired).toEqual(['25', '27', '28'].map((day) => `2026-12-${day}T09:00`))
    expect(await eventsOf(made, 'alarm.rescheduled')).toMatchObject([
      { reason: 'calendar', was: '2026-12-26T09:00:00.000Z', next_fire_at: '2026-12-27T09:00:00.000Z' },
      { reason: 'calendar', was: '2026-12-27T09:00:00.000Z', next_fire_at: '2026-12-25T09:00:00.000Z' },
    ])
    expect(await eventsOf(made, 'alarm.skipped')).toMatchObject([{ reason: 'holiday', count: 1 }])
  })

  test('never makes an occurrence that moves fire twice, or not at all', async () => {
    await using made = await bench({ clock: '2026-12-24T10:00:00Z' })
    const { wakeful, clock, fired } = made
    await wakeful.calendars.put('holidays', { dates: ['2026-12-25'] })
    await wakeful.set(
      { cron: '0 9 25 * *', exclude: { calendars: 'holidays', move: 'next' } },
      { target: 'tick' },
    )
    await wakeful.start()
    await wakeful.calendars.put('holidays', { dates: ['2026-12-25', '2026-12-26', '2026-12-27'] })
    await clock.advance('3d')
    // It is in the past now: late, but not lost.
    await wakeful.calendars.put('holidays', { dates: [] })
    await clock.advance('1d')
    expect(fired).toEqual(['2026-12-25T09:00'])
    await wakeful.calendars.put('holidays', { dates: ['2026-12-25', '2026-12-26'] })
    await clock.advance('40d')
    expect(fired).toEqual(['2026-12-25T09:00', '2027-01-25T09:00'])
  })

  test('is another tenant’s business only there', async () => {
    await using made = await bench()
    const [ann, bob] = [made.wakeful.forTenant('ann'), made.wakeful.forTenant('bob')]
    await ann.calendars.put('holidays', HOLIDAYS)
    await expect(bob.set(daily, { target: 'tick' })).rejects.toMatchObject({ code: 'invalid_rule' })
    expect(await bob.calendars.list()).toEqual([])
    expect(await bob.calendars.remove('holidays')).toBe(false)
    await bob.calendars.put('holidays', { dates: ['2026-12-22'] })
    const alarm = await ann.set(daily, { target: 'tick' })
    expect((await ann.calendars.get('holidays'))?.dates).toEqual(HOLIDAYS.dates)
    await expect(ann.calendars.remove('holidays')).rejects.toMatchObject({ code: 'conflict' })
    await ann.cancel(alarm.id)
    expect(await ann.calendars.remove('holidays')).toBe(true)
    expect(await ann.calendars.get('holidays')).toBeNull()
  })

  test('whose editor died is caught up on by the next process', async () => {
    await using place = await folder()
    const clock = new VirtualClock('2026-12-24T10:00:00Z')
    {
      await using made = await bench({ clock, store: place.store })
      await made.wakeful.calendars.put('holidays', HOLIDAYS)
      await made.wakeful.set(daily, { target: 'tick' })
    }
    const db = new DatabaseSync(place.file)
    db.exec(`UPDATE wakeful_calendars SET version = version + 1, dates = '{"2026-12-26":""}'`)
    db.close()
    await using made = await bench({ clock, store: place.store })
    await made.wakeful.start()
    await clock.advance('1d')
    expect(made.fired).toEqual(['2026-12-25T09:00'])
  })
})

describe('zone data that changed', () => {
  test('moves pending alarms to the same wall time, and logs it', async () => {
    await using place = await folder()
    const clock = new VirtualClock('2026-06-01T00:00:00Z')
    const ids: string[] = []
    {
      await using made = await bench({ clock, store: place.store, timezone: 'Europe/Rome' })
      await made.wakeful.start()
      for (const when of [
        { cron: '0 9 * * *' },
        'tomorrow at 9am',
        { every: '24h' },
        '2026-06-02T09:00:00+02:00',
      ])
        ids.push((await made.wakeful.set(when, { target: 'tick' })).id)
    }
    // As if resolved with data without summer time in Rome: an hour later, with an offset of one hour.
    const db = new DatabaseSync(place.file)
    db.exec(`UPDATE wakeful_timers SET scheduled_for = scheduled_for + 3600000, wake_at = wake_at + 3600000,
      zone_offset = 3600000 WHERE zone_offset IS NOT NULL`)
    db.exec(`UPDATE wakeful_meta SET value = '2019a' WHERE name = 'zone_data'`)
    db.close()
    const errors: string[] = []
    await using made = await bench({
      clock,
      store: place.store,
      onError: (thrown) => errors.push(String(thrown)),
    })
    await made.wakeful.start()
    const next = await Promise.all(
      ids.map(async (id) => (await made.wakeful.get(id))!.nextFireAt?.toISOString()),
    )
    expect(next).toEqual([
      '2026-06-01T07:00:00.000Z',
      '2026-06-02T07:00:00.000Z',
      '2026-06-02T00:00:00.000Z',
      '2026-06-02T07:00:00.000Z',
    ])
    expect(await eventsOf(made, 'alarm.rescheduled')).toMatchObject([
      { reason: 'zone_data', was: '2026-06-01T08:00:00.000Z', next_fire_at: '2026-06-01T07:00:00.000Z' },
      { reason: 'zone_data', was: '2026-06-02T08:00:00.000Z', next_fire_at: '2026-06-02T07:00:00.000Z' },
    ])
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain('was 2019a: 2 pending alarms moved')
    await made.clock.advance('1d')
    expect(made.fired).toEqual(['2026-06-01T07:00', '2026-06-02T00:00'])
  })
})

async function folder() {
  const dir = await mkdtemp(join(tmpdir(), 'wakeful-'))
  const file = join(dir, 'alarms.db')
  return { file, store: `sqlite:${file}`, [Symbol.asyncDispose]: () => rm(dir, { recursive: true }) }
}
