import { expect, it } from 'vitest'
import { preview, resolveWhen } from '../when/index.ts'

const company = { name: 'company', version: 1, dates: { '2026-12-24': '', '2026-12-31': '' }, weekend: [] }
const context = {
  now: Date.parse('2026-12-29T12:00:00Z'),
  timezone: 'UTC',
  calendars: (name: string) => (name === 'company' ? company : undefined),
}
const NOTE = 'company has no dates after 2026-12-31'

it('notes the end of a calendar at the first previewed instant after it', () => {
  const { instants } = preview({ cron: '0 9 * * *', exclude: 'company' }, context)
  expect(instants.map(({ note }) => note)).toEqual([
    undefined,
    '2026-12-31 is off, a day of company: skipped; company has no dates after 2026-12-31',
    undefined,
    undefined,
    undefined,
  ])
})

it('notes the end of a calendar once, when an alarm is set after it', () => {
  const later = { ...context, now: Date.parse('2027-01-04T12:00:00Z') }
  expect(resolveWhen({ cron: '0 9 * * *', exclude: 'company' }, context).notes).toEqual([])
  expect(resolveWhen({ cron: '0 9 * * *', exclude: 'company' }, later).notes).toEqual([NOTE])
  expect(resolveWhen({ at: '2027-01-05T09:00', exclude: 'company' }, later).notes).toEqual([NOTE])
  const { instants } = preview({ cron: '0 9 * * *', exclude: 'company' }, later)
  expect(instants.filter(({ note }) => note !== undefined)).toHaveLength(1)
})
