import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { countBetween } from '../occurrences/index.ts'
import type { Rule } from './rule.ts'
import { scheduleOf } from './schedule.ts'

const HOUR = 3_600_000
const anchor = Date.parse('2026-03-04T10:00:00Z')
const hourly: Rule = { kind: 'every', every: '1h', everyMs: HOUR, anchor, timezone: 'UTC' }
const nines: Rule = { kind: 'cron', cron: '0 9 * * *', anchor, timezone: 'Europe/Rome' }

describe('scheduleOf', () => {
  it('gives a once rule its only instant, strictly after', () => {
    const { next } = scheduleOf({ kind: 'once', at: 1000, timezone: 'UTC' })
    expect([next(0), next(999), next(1000), next(1001)]).toEqual([1000, 1000, null, null])
  })

  it('counts intervals from the anchor, however late it is called', () => {
    const { next } = scheduleOf(hourly)
    expect(next(0)).toBe(anchor + HOUR)
    expect(next(anchor + HOUR)).toBe(anchor + 2 * HOUR)
    expect(next(anchor + 1000 * HOUR + 1)).toBe(anchor + 1001 * HOUR)
  })

  it('anchors @every as it anchors every', () => {
    const { next } = scheduleOf({ kind: 'cron', cron: '@every 90m', anchor, timezone: 'UTC' })
    expect(next(anchor)).toBe(anchor + 1.5 * HOUR)
    expect(next(anchor + 2 * HOUR)).toBe(anchor + 3 * HOUR)
  })

  it('includes the start and the end, and nothing outside', () => {
    const start = anchor + 100
    const every = scheduleOf({ ...hourly, anchor: start, start, end: start + 2 * HOUR })
    expect([
      every.next(0),
      every.next(start),
      every.next(start + HOUR),
      every.next(start + 2 * HOUR),
    ]).toEqual([start, start + HOUR, start + 2 * HOUR, null])
    const nine = Date.parse('2026-03-05T08:00:00Z')
    expect(scheduleOf({ ...nines, start: nine, end: nine }).next(0)).toBe(nine)
    expect(scheduleOf({ ...nines, start: nine + 1, end: nine + 2 }).next(0)).toBeNull()
  })

  it('returns null outside the years 1970 to 9999', () => {
    for (const rule of [hourly, nines]) {
      expect(scheduleOf(rule).next(Number.NaN)).toBeNull()
      expect(scheduleOf(rule).next(Number.POSITIVE_INFINITY)).toBeNull()
      expect(scheduleOf(rule).next(Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(0)
    }
  })

  it('shares compiled expressions: a hundred thousand rules of one expression are cheap', () => {
    const start = cpuMs()
    for (let index = 0; index < 100_000; index++) scheduleOf({ ...nines, anchor: index })
    expect(cpuMs() - start).toBeLessThan(1500)
  })
})

describe('countBetween', () => {
  const until = anchor + 1_000_000 * HOUR + 5

  it('counts a million intervals without enumerating them', () => {
    expect(countBetween(hourly, anchor, until, 10)).toEqual({
      count: 1_000_000,
      last: until - 5,
      exact: true,
    })
  })

  it('respects start and end', () => {
    const rule: Rule = { ...hourly, start: anchor, end: anchor + 2 * HOUR + 1 }
    expect(countBetween(rule, 0, until, 10)).toEqual({ count: 3, last: anchor + 2 * HOUR, exact: true })
    expect(countBetween(rule, anchor + 2 * HOUR, until, 10)).toEqual({ count: 0, last: null, exact: true })
  })

  it('stops at the limit, reports that, and still finds the newest', () => {
    // Two RRULEs may name the same instant, so they can only be enumerated.
    const rrule = 'RRULE:FREQ=MINUTELY;BYHOUR=0,12\nRRULE:FREQ=MINUTELY;BYHOUR=12,18'
    const rule: Rule = { kind: 'rrule', rrule, anchor, timezone: 'Europe/Rome' }
    const month = Date.parse('2026-04-01T16:00:00Z')
    expect(countBetween(rule, anchor, month + 999, 100)).toEqual({ count: 100, last: month, exact: false })
  })

  it('counts ten days of minutes and a year of seconds exactly, at once', () => {
    const started = cpuMs()
    const minutes: Rule = { kind: 'cron', cron: '* * * * *', anchor, timezone: 'Europe/Rome' }
    expect(countBetween(minutes, anchor, anchor + 240 * HOUR, 1).count).toBe(14_400)
    for (const timezone of ['UTC', 'Europe/Rome', 'Australia/Lord_Howe']) {
      const rule: Rule = { kind: 'cron', cron: '* * * * * *', anchor, timezone }
      const year = anchor + 365 * 24 * HOUR
      expect(countBetween(rule, anchor, year, 1)).toEqual({ count: 31_536_000, last: year, exact: true })
    }
    expect(cpuMs() - started).toBeLessThan(500)
  })

  it('agrees with enumeration', () => {
    const rules: Rule[] = [
      { ...hourly, everyMs: 7_001_000, every: '7001s' },
      { ...hourly, start: anchor, anchor, end: anchor + 50 * HOUR },
      { ...nines, cron: '*/17 2,9 * * *' },
      { kind: 'once', at: anchor + 5 * HOUR, timezone: 'UTC' },
    ]
    // Around both changes of Rome, under every policy.
    for (const gap of ['shift', 'skip'] as const) {
      for (const overlap of ['first', 'last', 'both'] as const) {
        const shared = { timezone: 'Europe/Rome', anchor, dst: { gap, overlap } }
        const weekly = 'FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=1,2,3;BYMINUTE=0,30;BYSECOND=0'
        rules.push(
          { kind: 'cron', cron: '*/7 2-3 * * 0,6', ...shared },
          { kind: 'cron', cron: '*/40 */5 * * *', ...shared },
          { kind: 'rrule', rrule: weekly, ...shared },
          {
            kind: 'every',
            every: '1 month',
            everyMonths: 1,
            ...shared,
            anchor: Date.parse('2025-10-29T01:30Z'),
          },
        )
      }
    }
    fc.assert(
      fc.property(
        fc.constantFrom(...rules),
        fc.oneof(
          fc.integer({ min: -50 * HOUR, max: 100 * HOUR }),
          fc
            .integer({ min: -40 * HOUR, max: 40 * HOUR })
            .map((shift) => Date.parse('2026-03-29T01:00Z') - anchor + shift),
          fc
            .integer({ min: -40 * HOUR, max: 40 * HOUR })
            .map((shift) => Date.parse('2026-10-25T01:00Z') - anchor + shift),
        ),
        fc.integer({ min: -HOUR, max: 100 * HOUR }),
        fc.integer({ min: 0, max: 5 }),
        (rule, shift, length, limit) => {
          const from = anchor + shift
          const to = from + length
          const all: number[] = []
          const { next } = scheduleOf(rule)
          for (let at = next(from); at !== null && at <= to; at = next(at)) all.push(at)
          expect(countBetween(rule, from, to, 1000)).toEqual({
            count: all.length,
            last: all.at(-1) ?? null,
            exact: true,
          })
          expect(countBetween(rule, from, to, limit).last).toBe(all.at(-1) ?? null)
        },
      ),
      { numRuns: 1000 },
    )
  })
})
