import fc from 'fast-check'
import { expect, it } from 'vitest'
import { daysOffOf } from './exclusion.ts'
import { newestStanding } from './newest-standing.ts'
import type { RecurringRule } from './rule.ts'
import { type Standing, standingNext } from './standing.ts'
import { resolveWhen, type WhenObject } from './when.ts'

const now = Date.parse('2026-10-20T09:30:00Z')
const HOUR = 3_600_000
const dates = { '2026-10-23': '', '2026-10-26': '', '2026-11-02': '', '2026-11-03': '' }
const calendars = () => ({ name: 'c', version: 1, dates, weekend: [] })

function set(when: WhenObject, timezone: string) {
  const { rule, first, nominal } = resolveWhen(when, { now, timezone, calendars })
  const recurring = rule as RecurringRule
  const off = recurring.exclude === undefined ? null : daysOffOf(recurring.exclude, calendars)
  return { rule: recurring, off, known: { at: first, nominal } }
}

it('is the last of the standings up to a moment, walked one by one', () => {
  const when = fc.constantFrom<WhenObject>(
    { cron: '0 9 * * *' },
    { cron: '0 9 * * *', exclude: ['c', 'weekends'] },
    { cron: '*/30 * * * *', exclude: ['c', 'weekends'] },
    { cron: '0 0 * * 5,6,1', exclude: ['c', 'weekends'] },
    { every: '7h', exclude: ['c', 'weekends'] },
    { cron: '0 9 * * *', exclude: { calendars: 'c', weekend: true, move: 'next' } },
    { cron: '0 9 * * 0,2', exclude: { calendars: 'c', weekend: true, move: 'previous', offset: 1 } },
  )
  const zone = fc.constantFrom('UTC', 'America/New_York', 'America/St_Johns')
  fc.assert(
    fc.property(when, zone, fc.integer({ min: -24, max: 24 * 30 }), (given, timezone, hours) => {
      const { rule, off, known } = set(given, timezone)
      const until = now + hours * HOUR
      let expected: Standing | null = null
      for (let next: Standing | null = known; next !== null && next.at <= until; ) {
        expected = next
        next = standingNext(rule, off, next)
      }
      expect(newestStanding(rule, off, known, until)?.at).toBe(expected?.at)
    }),
    { numRuns: 500 },
  )
})

it('jumps over what fires every second', () => {
  const { rule, off, known } = set({ cron: '* * * * * *', exclude: ['c', 'weekends'] }, 'UTC')
  const started = performance.now()
  const sunday = Date.parse('2030-11-17T12:00Z')
  expect(newestStanding(rule, off, known, sunday)?.at).toBe(Date.parse('2030-11-15T23:59:59Z'))
  expect(performance.now() - started).toBeLessThan(500)
})
