import { describe, expect, it } from 'vitest'
import { parseStep } from '../durations/index.ts'
import { formatLocal } from '../zones/index.ts'
import type { CalendarEvery } from './rule.ts'
import { scheduleOf } from './schedule.ts'

const anchored = (local: string, everyMonths: number, more: Partial<CalendarEvery> = {}): CalendarEvery => {
  const anchor = Temporal.PlainDateTime.from(local).toZonedDateTime('Europe/Rome').epochMilliseconds
  return {
    kind: 'every',
    every: `${everyMonths} months`,
    everyMonths,
    anchor,
    timezone: 'Europe/Rome',
    ...more,
  }
}

function following(rule: CalendarEvery, count: number): string[] {
  const { next } = scheduleOf(rule)
  const found: string[] = []
  for (let at = next(0); at !== null && found.length < count; at = next(at)) {
    found.push(formatLocal(at, rule.timezone).slice(0, 22))
  }
  return found
}

describe('months', () => {
  it('from the 31st are on the last day of shorter months, and on the 31st again', () => {
    expect(following(anchored('2026-12-31T09:15:30', 1), 5)).toEqual([
      '2027-01-31T09:15:30+01',
      '2027-02-28T09:15:30+01',
      '2027-03-31T09:15:30+02',
      '2027-04-30T09:15:30+02',
      '2027-05-31T09:15:30+02',
    ])
  })

  it('from February 29 are on February 28 of common years', () => {
    expect(following(anchored('2024-02-29T00:00', 12), 4).map((local) => local.slice(0, 10))).toEqual([
      '2025-02-28',
      '2026-02-28',
      '2027-02-28',
      '2028-02-29',
    ])
  })

  it('begin at their start, whichever of two equal wall times it is', () => {
    const first = Date.parse('2026-10-25T00:30:00Z')
    for (const start of [first, first + 3_600_000]) {
      for (const overlap of ['first', 'last', 'both'] as const) {
        const rule = anchored('2026-10-25T02:30', 1, { anchor: start, start, dst: { gap: 'shift', overlap } })
        expect(scheduleOf(rule).next(0)).toBe(start)
        expect(scheduleOf(rule).next(start)).toBe(Date.parse('2026-11-25T01:30:00Z'))
        expect(scheduleOf(rule).count!(0, start + 32 * 86_400_000)).toBe(2)
      }
    }
  })

  it('follow the policy for clock changes', () => {
    const rule = (overlap: 'last' | 'both') =>
      anchored('2026-01-29T02:30', 2, { dst: { gap: 'skip', overlap } })
    expect(following(rule('last'), 2)).toEqual(['2026-05-29T02:30:00+02', '2026-07-29T02:30:00+02'])
    expect(following(anchored('2026-09-25T02:30', 1, { dst: { gap: 'skip', overlap: 'both' } }), 3)).toEqual([
      '2026-10-25T02:30:00+02',
      '2026-10-25T02:30:00+01',
      '2026-11-25T02:30:00+01',
    ])
  })

  it('end with the year 9999', () => {
    const { next } = scheduleOf(anchored('2026-01-31T00:00', 12 * 5000))
    expect(next(0)).toBe(Date.parse('7026-01-30T23:00:00Z'))
    expect(next(Date.parse('7026-01-30T23:00:00Z'))).toBeNull()
  })
})

describe('parseStep', () => {
  it.each([
    ['1 month', { everyMonths: 1 }],
    ['3 months', { everyMonths: 3 }],
    ['2mo', { everyMonths: 2 }],
    ['1 year', { everyMonths: 12 }],
    ['1y6mo', { everyMonths: 18 }],
    ['1 year and 2 months', { everyMonths: 14 }],
    ['P1M', { everyMonths: 1 }],
    ['P1Y2M', { everyMonths: 14 }],
    ['PT1M', { everyMs: 60_000 }],
    ['1m', { everyMs: 60_000 }],
    ['2 weeks', { everyMs: 1_209_600_000 }],
    ['1d', { everyMs: 86_400_000 }],
  ])('%s', (text, step) => {
    expect(parseStep(text)).toEqual(step)
  })

  it.each([
    ['month', '1 month'],
    ['a day', '1 day'],
    ['Hour', '1 hour'],
  ])('suggests how to write %s', (text, right) => {
    expect(() => parseStep(text)).toThrow(`Use '${right}'`)
  })

  it.each([
    '',
    'P',
    '0 months',
    '-1 month',
    'P1M1D',
    '1 month 2 days',
    '1.5 months',
    '999999 years',
    'month',
  ])('refuses %j', (text) => {
    expect(() => parseStep(text)).toThrow(expect.objectContaining({ code: 'invalid_rule' }))
  })
})
