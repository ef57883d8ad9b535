import { expect, it } from 'vitest'
import { resolveSince } from './since.ts'
import type { When } from './when.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const read = (since: unknown) => resolveSince(since as When, { now: NOW, timezone: 'Europe/Rome' })

it.each([
  ['2h', '2026-11-16T10:00:00Z'],
  [' 1d12h ', '2026-11-15T00:00:00Z'],
  ['PT2H', '2026-11-16T10:00:00Z'],
  ['2 hours ago', '2026-11-16T10:00:00Z'],
  [{ at: '2h' }, '2026-11-16T10:00:00Z'],
  ['9000w', '1970-01-01T00:00:00Z'],
  ['1794830400', '2026-11-16T12:00:00Z'],
  ['1794830400.5', '2026-11-16T12:00:00.500Z'],
  [{ unix: 1_794_830_400 }, '2026-11-16T12:00:00Z'],
  ['2026-11-16T10:00:00Z', '2026-11-16T10:00:00Z'],
  ['2026-11-16T10:00', '2026-11-16T09:00:00Z'],
  [new Date(NOW), '2026-11-16T12:00:00Z'],
  ['now', '2026-11-16T12:00:00Z'],
  ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
])('%j is a valid start of a list', (since, moment) => {
  expect(read(since)).toBe(Date.parse(moment))
})

it.each([
  ['in 2 hours', /^`since` 'in 2 hours' is 2026-11-16T14:00:00.000Z, which is in the future\. Use .*2h/],
  ['tomorrow at 9am', /in the future/],
  [{ delay: '2h' }, /in the future/],
  ['every day at 9am', /^`since` 'every day at 9am' recurs.*2h/],
  [{ cron: '@daily' }, /recurs/],
  ['tomorow at 9am', /^`since`: 'tomorow at 9am' is not a time.*Did you mean 'tomorrow'\?/],
  ['february 30', /^`since`: There is no February 30/],
  ['florp', /^`since` 'florp' is not a time\. Use .*seconds since 1970.*2h/],
  ['-2h', /^`since` '-2h' is not a time/],
  ['1794830400000', /looks like milliseconds/],
])('%j is refused, with forms that work', (since, message) => {
  expect(() => read(since)).toThrow(message)
})
