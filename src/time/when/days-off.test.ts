import { describe, expect, it } from 'vitest'
import { type CalendarLookup, type HolidayCalendar, readExclude } from '../calendars/index.ts'
import { parseRecurring } from '../phrases/index.ts'
import { preview } from './preview.ts'
import { parse, resolveWhen, type When, type WhenObject } from './when.ts'

/** Tuesday. */
const now = Date.parse('2026-12-22T09:30:00Z')
const kept: HolidayCalendar[] = [
  { name: 'us-holidays', version: 1, dates: { '2026-12-25': 'Christmas Day' }, weekend: [] },
  { name: 'company', version: 1, dates: { '2026-12-24': '' }, weekend: [] },
  { name: 'gulf', version: 1, dates: {}, weekend: [5, 6] },
]
const calendars: CalendarLookup = (name) => kept.find((each) => each.name === name)
const context = { now, timezone: 'UTC', calendars }
const show = (when: When, count = 3, from?: number) =>
  preview(when, { ...context, count, ...(from !== undefined && { from }) })
const lines = (when: When, count?: number, from?: number) =>
  show(when, count, from).instants.map(({ instant, note }) =>
    note === undefined ? instant.slice(0, 10) : `${instant.slice(0, 10)} ${note}`,
  )

describe('a preview with days off', () => {
  it('notes what was skipped', () => {
    expect(lines({ cron: '0 9 * * *', exclude: 'us-holidays' }, 3)).toEqual([
      '2026-12-23',
      '2026-12-24',
      '2026-12-26 2026-12-25 is off, Christmas Day (us-holidays): skipped; us-holidays has no dates after 2026-12-25',
    ])
    expect(lines({ cron: '0 9 * * *', exclude: ['company', 'us-holidays', 'weekends'] }, 2)).toEqual([
      '2026-12-23',
      '2026-12-28 2026-12-24 to 2026-12-27, 4 ticks on days off: skipped; company has no dates after 2026-12-24; us-holidays has no dates after 2026-12-25',
    ])
    const late = Date.parse('2026-12-24T23:30Z')
    expect(lines({ cron: '0 * * * *', exclude: 'us-holidays' }, 1, late)).toEqual([
      '2026-12-26 us-holidays has no dates after 2026-12-25; 2026-12-25 is off, Christmas Day (us-holidays): 24 ticks skipped',
    ])
  })

  it('notes what was moved', () => {
    const moved: WhenObject = { cron: '0 9 26 * *', exclude: { weekend: true, move: 'next' } }
    expect(lines(moved, 2)).toEqual(['2026-12-28 moved from 2026-12-26, Saturday', '2027-01-26'])
    expect(lines(moved, 1, Date.parse('2026-12-27T00:00Z'))).toEqual([
      '2026-12-28 moved from 2026-12-26, Saturday',
    ])
  })

  it('ends with the count, which includes skipped ticks, and before a last tick on a day off', () => {
    expect(lines({ cron: '0 9 * * *', count: 5, exclude: ['us-holidays', 'weekends'] }, 9)).toEqual([
      '2026-12-23',
      '2026-12-24',
    ])
    expect(lines({ cron: '0 9 * * *', end: '2026-12-25T12:00', exclude: 'us-holidays' }, 9)).toEqual([
      '2026-12-23',
      '2026-12-24',
    ])
    expect(lines({ cron: '0 9 * * 6', count: 2, exclude: { weekend: true, move: 'next' } }, 9)).toHaveLength(
      2,
    )
  })

  it.each<[WhenObject, string]>([
    [{ cron: '0 9 * * *', exclude: 'us-holidays' }, 'every day at 09:00, in UTC, except on us-holidays'],
    [
      { cron: '0 9 * * *', exclude: ['us-holidays', 'company', 'weekends'], count: 3 },
      'every day at 09:00, in UTC, except on company, us-holidays and at weekends, 3 times',
    ],
    [
      { every: '12h', exclude: { weekend: ['fri', 'sat'] } },
      'every 12h, in UTC, except on Fridays and Saturdays',
    ],
    [
      { cron: '0 9 1 * *', exclude: { calendars: 'us-holidays', weekend: true, move: 'next' } },
      'on day 1 of every month at 09:00, in UTC, moved to the next working day (us-holidays, weekends)',
    ],
    [
      { cron: '0 9 1 * *', exclude: { weekend: true, move: 'previous', offset: -2 } },
      'on day 1 of every month at 09:00, in UTC, moved to the previous working day and 2 back (weekends)',
    ],
  ])('describes %j', (when, words) => {
    expect(show(when).description).toBe(words)
  })
})

describe('one instant and days off', () => {
  const christmas = (exclude: WhenObject['exclude']): WhenObject => ({
    at: '2026-12-25T09:00',
    exclude: exclude!,
  })

  it('moves when it is set, and stays there', () => {
    const next = { calendars: 'us-holidays', weekend: true as const, move: 'next' as const }
    const at = Date.parse('2026-12-28T09:00Z')
    expect(resolveWhen(christmas(next), context)).toEqual({
      rule: { kind: 'once', at, timezone: 'UTC' },
      first: at,
      nominal: at,
      notes: ['moved from 2026-12-25, Christmas Day (us-holidays)'],
    })
    expect(resolveWhen(christmas({ ...next, move: 'previous', offset: -1 }), context)).toMatchObject({
      first: Date.parse('2026-12-23T09:00Z'),
      notes: ['moved from 2026-12-25, Christmas Day (us-holidays), 1 working day back'],
    })
    expect(resolveWhen({ delay: '1h', exclude: next }, context).notes).toEqual([])
  })

  it('is refused on a day off without move', () => {
    expect(() => resolveWhen(christmas('us-holidays'), context)).toThrow(
      /2026-12-25 is a day off, Christmas Day \(us-holidays\)\. .*move: 'next'/,
    )
    expect(() => resolveWhen(christmas('eu'), context)).toThrow(/There is no calendar 'eu'/)
  })

  it.each<[string, WhenObject['exclude'], string]>([
    ['next working day at 9am', undefined, '2026-12-23T09:00'],
    ['on the next business day at noon', undefined, '2026-12-23T12:00'],
    ['next workday', undefined, '2026-12-23T09:00'],
    ['in 3 working days', undefined, '2026-12-25T09:30'],
    ['in 3 working days at 9am', ['us-holidays'], '2026-12-28T09:00'],
    ['at 9am in three business days', ['us-holidays', 'company'], '2026-12-29T09:00'],
    ['4 working days from now', { weekend: ['fri', 'sat'] }, '2026-12-28T09:30'],
    ['in 3 working days', 'gulf', '2026-12-27T09:30'],
    ['in 3 working days', { weekend: true, move: 'next', offset: 1 }, '2026-12-28T09:30'],
  ])('%s, with %j', (at, exclude, expected) => {
    const { first } = resolveWhen(exclude === undefined ? at : { at, exclude }, context)
    expect(new Date(first).toISOString().slice(0, 16)).toBe(expected)
  })

  it.each<[string, RegExp]>([
    ['in 0 working days', /Use a number from 1 to 250/],
    ['in 999 working days', /Use a number from 1 to 250/],
    ['in 2.5 working days', /not understood/],
    ['next working day tomorrow', /two dates/],
    ['in 3 working days in 2 hours', /two dates/],
    ['next working week', /'working'/],
    ['working day at 9am', /'working', 'day'/],
  ])('refuses %s', (text, message) => {
    expect(() => resolveWhen(text, context)).toThrow(message)
  })
})

describe('recurring phrases with working days', () => {
  const NEXT = { weekend: [6, 7], move: 'next' }

  it.each<[When, string, object | undefined]>([
    ['every working day at 9am', '0 9 * * 1-5', undefined],
    ['every business day at 9:30', '30 9 * * 1-5', undefined],
    ['workdays at noon', '0 12 * * 1-5', undefined],
    ['every 15 minutes on working days between 9:00 and 17:00', '*/15 9-16 * * 1-5', undefined],
    ['first working day of the month at 9am', '0 9 1 * *', NEXT],
    ['third business day of each month at 9am', '0 9 1 * *', { ...NEXT, offset: 2 }],
    ['every month on the 10th working day at 9am', '0 9 1 * *', { ...NEXT, offset: 9 }],
    ['last working day of every month at 17:00', '0 17 L * *', { ...NEXT, move: 'previous' }],
    ['first working day of the quarter at 9am', '0 9 1 1,4,7,10 *', NEXT],
    ['last working day of each quarter at 9am', '0 9 L 3,6,9,12 *', { ...NEXT, move: 'previous' }],
    ['first working day of the year at 9am', '0 9 1 1 *', NEXT],
    ['last working day of december every year at 9am', '0 9 L 12 *', { ...NEXT, move: 'previous' }],
    ['every weekday at 9am except us-holidays', '0 9 * * 1-5', { calendars: ['us-holidays'] }],
    [
      'every day at 9am excluding us-holidays, company and sunday',
      '0 9 * * 1-6',
      { calendars: ['company', 'us-holidays'] },
    ],
    ['every day except on us-holidays at 9am until 2027-03-01', '0 9 * * *', { calendars: ['us-holidays'] }],
    ['every day at 9am except weekends', '0 9 * * 1-5', undefined],
    ['on the 1st of every month at 9am except weekends', '0 9 1 * *', { weekend: [6, 7] }],
    [
      { at: 'every working day at 9am', exclude: 'us-holidays' },
      '0 9 * * 1-5',
      { calendars: ['us-holidays'] },
    ],
    [{ at: 'every working day at 9am', exclude: 'gulf' }, '0 9 * * *', { calendars: ['gulf'] }],
    [
      { at: 'every working day at 9am', exclude: { weekend: ['fri', 'sat'] } },
      '0 9 * * 0-4',
      { weekend: [5, 6] },
    ],
    [
      { at: 'last working day of the month at 9am', exclude: 'us-holidays' },
      '0 9 L * *',
      { calendars: ['us-holidays'], weekend: [6, 7], move: 'previous' },
    ],
    [
      { at: 'every weekday at 9am except us-holidays', exclude: { calendars: 'company', move: 'next' } },
      '0 9 * * 1-5',
      { calendars: ['company', 'us-holidays'], weekend: [6, 7], move: 'next' },
    ],
    [
      { at: 'on the 1st of every month at 9am', exclude: { calendars: 'gulf', move: 'next' } },
      '0 9 1 * *',
      { calendars: ['gulf'], move: 'next' },
    ],
    [
      {
        at: 'first working day of the month at 9am',
        exclude: { calendars: 'us-holidays', weekend: [] },
      },
      '0 9 1 * *',
      { calendars: ['us-holidays'], weekend: [6, 7], move: 'next' },
    ],
  ])('%j', (when, cron, exclude) => {
    const { rule } = resolveWhen(when, context)
    expect(rule).toMatchObject({ cron })
    expect((rule as { exclude?: object }).exclude).toEqual(exclude)
    const [text, beside] =
      typeof when === 'string' ? [when] : [(when as WhenObject).at, (when as WhenObject).exclude]
    const around = { ...context, exclude: readExclude(beside) }
    const { notes: _, ...read } = parseRecurring(text as string, around)!
    expect(parseRecurring(read.canonical, around)).toMatchObject(read)
  })

  it('count several months from the first', () => {
    expect(
      lines('every 2 months on the first working day at 9am', 3).map((line) => line.slice(0, 10)),
    ).toEqual(['2027-01-01', '2027-03-01', '2027-05-03'])
  })

  it('note which days are working days', () => {
    expect(parse('every working day at 9am', context).notes).toContainEqual(
      expect.stringMatching(/working days are Monday to Friday/),
    )
  })

  it.each<[When, RegExp]>([
    ['every weekday at 9am except please', /There is no calendar 'please'/],
    [
      { at: 'last working day of the month at 9am', exclude: { calendars: 'company', move: 'next' } },
      /and `exclude.move` move to different days/,
    ],
    [{ at: 'every working day and sunday at 9am', exclude: 'gulf' }, /Name all the days/],
  ])('refuse %j', (when, message) => {
    expect(() => resolveWhen(when, context)).toThrow(message)
  })
})
