import { describe, expect, it } from 'vitest'
import { daysOffOf } from '../calendars/index.ts'
import { measureSearchWork } from '../clock/index.ts'
import { occurrenceAfter } from '../occurrences/index.ts'
import type { RecurringRule } from '../rules/index.ts'
import { preview, shortestPeriod } from './preview.ts'
import { resolveWhen, type When, type WhenObject } from './when.ts'

const context = { now: Date.parse('2026-03-27T09:30:00Z'), timezone: 'Europe/Rome' }

describe('preview', () => {
  it('has the zone, the rule, its description and the next instants, with notes about clock changes', () => {
    expect(preview({ cron: '30 2 * * *' }, { ...context, count: 2 })).toEqual({
      timezone: 'Europe/Rome',
      rule: { kind: 'cron', cron: '30 2 * * *', anchor: context.now, timezone: 'Europe/Rome' },
      description: 'every day at 02:30, in Europe/Rome',
      instants: [
        { instant: '2026-03-28T01:30:00.000Z', local: '2026-03-28T02:30:00+01:00[Europe/Rome]' },
        {
          instant: '2026-03-29T01:30:00.000Z',
          local: '2026-03-29T03:30:00+02:00[Europe/Rome]',
          note: '02:30 does not exist that day in Europe/Rome, the clock goes forward: it fires at 03:30',
        },
      ],
    })
  })

  it.each<[WhenObject, string]>([
    [{ cron: '0 17 L * *' }, 'on the last day of every month at 17:00, in Europe/Rome'],
    [{ cron: '*/15 9-16 * * *' }, 'every 15 minutes from 09:00 to 16:59, in Europe/Rome'],
    [{ cron: '*/15 9-16 * * 1-5' }, 'Monday to Friday every 15 minutes from 09:00 to 16:59, in Europe/Rome'],
    [{ cron: '* 9-9 * * *' }, 'every minute from 09:00 to 09:59, in Europe/Rome'],
    [{ cron: '0 9 * * *', misfire: 'skip' }, 'every day at 09:00, in Europe/Rome; missed ticks: none fire'],
  ])('describes %j', (when, words) => {
    expect(preview(when, context).description).toBe(words)
  })

  it('notes what a clock change does to the first instant once, and on the alarm too', () => {
    const night = { ...context, now: Date.parse('2026-03-28T12:00:00Z') }
    const gap = '02:30 does not exist that day in Europe/Rome, the clock goes forward: it fires at 03:30'
    expect(resolveWhen({ cron: '30 2 * * *' }, night).notes).toEqual([`first on 2026-03-29: ${gap}`])
    expect(resolveWhen({ cron: '30 3 * * *' }, night).notes).toEqual([])
    expect(preview({ cron: '30 2 * * *' }, { ...night, count: 1 }).instants[0]!.note).toBe(gap)
  })

  it('notes jitter, which is not in the instants, and a legacy zone name', () => {
    const { instants } = preview({ cron: '0 9 * * *', jitter: '10m' }, { ...context, count: 2 })
    expect(instants.map(({ note }) => note)).toEqual(['each wakes up to 10m later', undefined])
    expect(preview('tomorrow at 9am', { ...context, timezone: 'EST' }).instants[0]?.note).toBe(
      'EST has no daylight saving time. Use America/New_York to follow it',
    )
  })

  it('notes the first of two equal wall times differently if both fire', () => {
    const from = Date.parse('2026-10-24T23:30:00Z')
    expect(preview({ cron: '30 2 * * *' }, { ...context, from, count: 1 }).instants[0]!.note).toMatch(/twice/)
    expect(
      preview({ cron: '30 * * * *' }, { ...context, from, count: 3 }).instants.map(({ note }) => note),
    ).toEqual([undefined, undefined, undefined])
  })

  it.each<[WhenObject, string, (string | undefined)[]]>([
    [
      { cron: '30 2 * * *', dst: { gap: 'skip' } },
      '2026-03-28T12:00Z',
      ['2026-03-29 02:30 does not exist in Europe/Rome, the clock goes forward: skipped', undefined],
    ],
    [
      { cron: '30 2,3 * * *' },
      '2026-03-28T12:00Z',
      [
        '02:30 does not exist that day in Europe/Rome, the clock goes forward: it falls together with 03:30',
        undefined,
      ],
    ],
    [
      { cron: '30 2 * * *', dst: { overlap: 'both' } },
      '2026-10-24T12:00Z',
      [
        '02:30 occurs twice that day in Europe/Rome, the clock goes back by 1h: this is the first of both',
        '02:30 occurs twice that day in Europe/Rome, the clock goes back by 1h: this is the second of both',
      ],
    ],
    [
      { rrule: 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0', dst: { overlap: 'last' } },
      '2026-10-24T12:00Z',
      ['02:30 occurs twice that day in Europe/Rome, the clock goes back by 1h: this is the last', undefined],
    ],
    [
      { every: '1 month', start: '2027-02-28T02:30' },
      '2027-03-01T00:00Z',
      ['02:30 does not exist that day in Europe/Rome, the clock goes forward: it fires at 03:30', undefined],
    ],
    [
      { cron: '0 */2 * * *' },
      '2026-03-28T22:30Z',
      [undefined, 'the clock went forward by 1h in Europe/Rome: it keeps its real spacing until midnight'],
    ],
  ])('notes what the clock change does to %j', (when, from, notes) => {
    const { instants } = preview(when, { ...context, from: Date.parse(from), count: 2 })
    expect(instants.map(({ note }) => note)).toEqual(notes)
  })

  it('notes where a day field that begins with * is read unlike in Vixie cron', () => {
    const days = (cron: string) =>
      preview({ cron }, { ...context, from: '2026-04-01', count: 4 }).instants.map(({ local, note }) => [
        local.slice(8, 10),
        note,
      ])
    const note = expect.stringMatching(/either day field does; Vixie cron \(crontab\) requires both/)
    // April 6 is a Monday.
    expect(days('0 9 */2 * 1')).toEqual([
      ['01', note],
      ['03', undefined],
      ['05', undefined],
      ['06', undefined],
    ])
    expect(days('0 9 */2 * +1')).toEqual([
      ['13', undefined],
      ['27', undefined],
      ['11', undefined],
      ['25', undefined],
    ])
    expect(days('0 9 13 * 1')[0]).toEqual(['06', undefined])
  })

  it('reads everything as if it were `from`: relative phrases, and rules that are over now', () => {
    const first = (when: When, from: Date | string) =>
      preview(when, { ...context, from, count: 1 }).instants.map(({ instant }) => instant)
    const from = new Date('2020-05-01T10:00:00Z')
    expect(first('in 10 minutes', from)).toEqual(['2020-05-01T10:10:00.000Z'])
    expect(first('tomorrow at 9am', '2020-05-01T10:00:00Z')).toEqual(['2020-05-02T07:00:00.000Z'])
    expect(first({ cron: '0 9 * * *', end: '2021-01-01' }, from)).toEqual(['2020-05-02T07:00:00.000Z'])
    expect(first({ cron: '0 12 * * *' }, from)).toEqual(['2020-05-01T10:00:00.000Z'])
    expect(first({ cron: '0 9 * * *' }, 'next monday')).toEqual(['2026-03-30T07:00:00.000Z'])
    expect(first({ cron: '0 9 * * *', end: '2027-01-01' }, '2028-01-01')).toEqual([])
    expect(() => first({ cron: '0 9 * * *' }, 'whenever')).toThrow(expect.objectContaining({ field: 'from' }))
  })

  it.each([
    ['monthly', '2027-01-31', 'on day 31 of every month, or the last day at 09:00', '01-31 02-28 03-31'],
    ['monthly', '2027-01-30', 'on day 30 of every month, or the last day at 09:00', '01-30 02-28 03-30'],
    ['yearly at 9am', '2028-02-29', 'every year on February 29, or 28 in common years', '02-29 02-28 02-28'],
    ['every 2 months at 9am and 5pm', '2027-12-31', 'every 2 months on day 31', '12-31 12-31 02-29'],
  ])('%s from %s is on the last day where that day is missing', (phrase, from, description, days) => {
    const found = preview(phrase, { ...context, from, count: 3 })
    expect(found.description).toContain(description)
    expect(found.instants.map(({ local }) => local.slice(5, 10)).join(' ')).toBe(days)
    expect(found.instants[0]!.note).toContain(`that of ${from} is used`)
  })

  it('refuses what cannot be read from there, and shows no other day instead', () => {
    expect(() => preview('today at 9am and 5pm', { ...context, from: '2027-01-31' })).toThrow()
    expect(() => preview('today', { ...context, from: '2027-01-31T10:00' })).toThrow('has passed')
  })

  it('takes the rule of an alarm', () => {
    for (const when of [
      'tomorrow at 5pm',
      { every: '7h' },
      { every: '1 month', start: '2026-05-31T09:00' },
      { cron: '0 9 * * *', jitter: '5m', misfire: 'all', count: 3 },
      { rrule: 'FREQ=DAILY;BYHOUR=2', dst: { gap: 'skip' }, exclude: 'weekends' },
    ] as When[]) {
      const { rule } = resolveWhen(when, context)
      const later = { ...context, now: context.now + 60_000 }
      const instants = (what: Parameters<typeof preview>[0], at = context) =>
        preview(what, at).instants.map(({ instant }) => instant)
      expect(instants(rule, later)).toEqual(instants(when))
      expect(preview(rule, later).rule).toEqual(rule)
    }
  })

  it('ends with the count, the end, or the only instant', () => {
    expect(preview({ every: '1h', count: 2 }, context).instants).toHaveLength(2)
    expect(preview({ every: '1h', end: '2026-03-27T12:35' }, context).instants).toHaveLength(2)
    expect(preview('tomorrow at 5pm', context).instants).toHaveLength(1)
    expect(preview({ unix: 0 }, context).instants[0]).toMatchObject({ note: expect.stringMatching(/past/) })
  })

  it('formats local times that can be parsed again', () => {
    const [{ instant, local }] = preview('tomorrow at 5pm', context).instants as [
      { instant: string; local: string },
    ]
    expect(preview(local, context).instants[0]!.instant).toBe(instant)
  })

  it('refuses an invalid count', () => {
    for (const count of [0, -1, 1.5, 1001, Number.NaN]) {
      expect(() => preview('noon', { ...context, count })).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      )
    }
  })
})

describe('description', () => {
  it.each<[When, string]>([
    [{ cron: '0 9 * * 1-5' }, 'Monday to Friday at 09:00, in Europe/Rome'],
    [{ cron: '0 9,17 * * mon,wed' }, 'every Monday and Wednesday at 09:00 and 17:00, in Europe/Rome'],
    [{ cron: '*/5 * * * *' }, 'every 5 minutes, in Europe/Rome'],
    [{ cron: '0 0 1 * *' }, 'on day 1 of every month at 00:00, in Europe/Rome'],
    [{ cron: '@hourly' }, 'every hour at :00, in Europe/Rome'],
    [{ cron: '@yearly' }, 'every year on January 1 at 00:00, in Europe/Rome'],
    [
      { cron: '0 0 13 * 5' },
      "at the times of cron '0 0 13 * 5', on days that match either of its day fields, in Europe/Rome",
    ],
    [{ cron: '0 9 */2 * +1' }, "at the times of cron '0 9 */2 * +1', in Europe/Rome"],
    [{ cron: '@every 90m' }, 'every 1h30m'],
    [{ every: '90m', count: 3 }, 'every 1h30m, 3 times'],
    [{ every: '90m', jitter: '5m' }, 'every 1h30m, each up to 5m later'],
    [{ cron: '30 */6 * * *', dst: { gap: 'skip' } }, 'every 6 hours at :30, in Europe/Rome'],
    [
      { cron: '0 9 * * *', dst: { gap: 'skip', overlap: 'both' } },
      'every day at 09:00, in Europe/Rome, skipping times that do not exist, on both of times that occur twice',
    ],
    [{ every: '1 month' }, 'every month on day 27 at 10:30, in Europe/Rome'],
    [{ every: '2 years' }, 'every 2 years on March 27 at 10:30, in Europe/Rome'],
    [{ rrule: 'FREQ=DAILY' }, 'every day, in Europe/Rome'],
    ['2026-12-24T18:00', 'once, at 2026-12-24T18:00:00+01:00[Europe/Rome]'],
  ])('%j', (when, words) => {
    expect(preview(when, context).description).toBe(words)
  })
})

describe('a rule whose instants are rare', () => {
  const exclude = { weekend: [1, 2, 3, 4, 5, 6] }
  const rare: WhenObject[] = [
    { rrule: 'FREQ=HOURLY;INTERVAL=9973;BYMONTHDAY=-29;BYHOUR=12;BYSECOND=28', exclude },
    { rrule: 'FREQ=HOURLY;INTERVAL=1000;BYMONTHDAY=1;BYYEARDAY=-366' },
    { rrule: 'FREQ=HOURLY;INTERVAL=25;BYHOUR=3;BYMONTHDAY=13', exclude: { weekend: [1, 2, 3, 4, 6, 7] } },
    { rrule: 'FREQ=HOURLY;INTERVAL=25;BYHOUR=3;BYMONTHDAY=13', jitter: '1m' },
    { rrule: 'FREQ=MINUTELY;INTERVAL=1501;BYHOUR=3;BYMINUTE=7;BYDAY=SU', exclude },
    { cron: '0 0 29 2 *', exclude },
  ]

  it.each(rare)('%j is previewed as far as bounded work can find it', (when) => {
    const work = measureSearchWork()
    expect(preview(when, { ...context, count: 1000 }).instants.length).toBeGreaterThan(0)
    expect(work()).toBeLessThan(700_000)
    const fewer = measureSearchWork()
    preview(when, { ...context, count: 2 })
    expect(fewer()).toBeLessThan(400_000)
  })

  it('notes that there may be more if the search gave up', () => {
    const when = { rrule: 'FREQ=MINUTELY;INTERVAL=1501;BYHOUR=3;BYMINUTE=7;BYDAY=SU', exclude }
    const { instants } = preview(when, { ...context, count: 1000 })
    expect(instants.length).toBeLessThan(1000)
    expect(instants.at(-1)!.note).toMatch('what comes after this one is too rare to be looked for here')
  })

  it('is refused if all instants found are on days off', () => {
    // Every instant of the interval is on a Monday, as far as the search goes.
    const when = { rrule: 'FREQ=HOURLY;INTERVAL=25;BYHOUR=3;BYDAY=MO', exclude }
    const work = measureSearchWork()
    expect(() => preview(when, { ...context, count: 1000 })).toThrow('fires only on days off')
    expect(work()).toBeLessThan(400_000)
  })

  it('continues where the search gave up, and does not end', () => {
    const { rule } = resolveWhen({ rrule: 'FREQ=HOURLY;INTERVAL=25;BYHOUR=3;BYDAY=MO' }, context)
    const off = daysOffOf(exclude, () => undefined)
    const [first, again] = [0, 1].map(() => occurrenceAfter(rule as RecurringRule, off, context.now))
    expect(again).toEqual(first)
    const work = measureSearchWork()
    const next = occurrenceAfter(rule as RecurringRule, off, first!.at)
    expect(next!.at).toBeGreaterThan(first!.at)
    expect(work()).toBeLessThan(200_000)
  })

  it('counts the ticks of a rule with a count once, not again for each previewed instant', () => {
    const twice = 'RRULE:FREQ=DAILY;BYHOUR=9\nRRULE:FREQ=DAILY;BYHOUR=10'
    const when = { rrule: twice, count: 1_500, exclude: { weekend: [1] } }
    const work = measureSearchWork()
    expect(preview(when, { ...context, count: 1000 }).instants).toHaveLength(1000)
    expect(work()).toBeLessThan(50_000)
  })
})

it('finds the shortest period of a rule, and none of a single instant', () => {
  const shortest = (when: When) => {
    return shortestPeriod(resolveWhen(when, context), context)
  }
  expect(shortest({ cron: '0,1 9 * * *' })).toBe(60_000)
  expect(shortest({ every: '1h' })).toBe(3_600_000)
  expect(shortest({ every: '1h', count: 1 })).toBe(Number.POSITIVE_INFINITY)
  expect(shortest('in 5 minutes')).toBe(Number.POSITIVE_INFINITY)
})
