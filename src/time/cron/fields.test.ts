import { Cron } from 'croner'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { dayFinder } from '../civil/index.ts'
import { readFields } from './fields.ts'

const DAY_MS = 86_400_000

const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min, max }).map(String),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 2, max: 5 }).map((step) => `*/${step}`),
  )

it('finds the same days that croner matches', () => {
  const marks = fc.constantFrom('L', 'LW', '15W', '1W', '31W', '1,L', '1,31', '29,30,31')
  const weeks = fc.constantFrom('5#2', '1L', 'mon-fri', '7', '0,6', '3#5', '+5', '+1#1')
  fc.assert(
    fc.property(
      fc.oneof(field(1, 31), field(1, 31), marks),
      field(1, 12),
      fc.oneof(field(0, 7), field(0, 6), weeks),
      fc.integer({ min: 0, max: 60_000 }),
      (date, month, weekday, from) => {
        // Not croner's nextRun, which skips days.
        const cron = new Cron(`0 0 0 ${date} ${month} ${weekday}`, { utcOffset: 0 })
        const dayFrom = dayFinder(readFields(`0 0 ${date} ${month} ${weekday}`).days)
        const expected: number[] = []
        for (let day = from + 1; day <= from + 800; day++)
          if (cron.match(new Date(day * DAY_MS))) expected.push(day)
        const found: number[] = []
        for (let day = dayFrom(from + 1); day <= from + 800; day = dayFrom(day + 1)) found.push(day)
        expect(found).toEqual(expected)
      },
    ),
    { numRuns: 200 },
  )
})

it.each([
  ['0 0 1,31 * *', '2026-02-01', '2026-03-01'],
  ['0 0 */5 * *', '2026-02-26', '2026-03-01'],
  ['0 0 29 2 +1', '2024-03-01', '2044-02-29'],
  ['0 0 29 2 *', '2096-03-01', '2104-02-29'],
  ['0 0 1 1 *', '9998-06-01', '9999-01-01'],
  ['0 0 1 1 *', '9999-01-01', null],
  ['0 0 30 2 *', '1970-01-01', null],
])('%s after %s is %s', (fields, after, next) => {
  const day = (text: string) => Date.parse(text) / DAY_MS
  const found = dayFinder(readFields(fields).days)(day(after) + 1)
  expect(found).toBe(next === null ? Number.POSITIVE_INFINITY : day(next))
})

it.each(['* * * -* *', `* * * * ${'9'.repeat(900)}`, `* * * * 5${'m'.repeat(900)}`, '* * * * */x'])(
  'refuses %s in few words, and shows no NaN',
  (fields) => {
    expect(() => readFields(fields)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^(?!.*(?:NaN|Infinity)).{1,400}$/) }),
    )
  },
)
