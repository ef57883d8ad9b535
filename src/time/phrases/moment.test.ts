import { expect, it } from 'vitest'
import { parseBound } from './moment.ts'

// A Wednesday, 10:30 in Rome.
const context = { now: Date.parse('2026-03-04T09:30:00Z'), timezone: 'Europe/Rome' }

it.each([
  ['2026-11-10', '2026-11-09T23:00:00.000Z', '2026-11-10T22:59:59.999Z'],
  // The clock goes forward: a day of 23 hours.
  ['2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z'],
  ['today', '2026-03-03T23:00:00.000Z', '2026-03-04T22:59:59.999Z'],
  ['tomorrow', '2026-03-04T23:00:00.000Z', '2026-03-05T22:59:59.999Z'],
  ['next monday', '2026-03-08T23:00:00.000Z', '2026-03-09T22:59:59.999Z'],
  ['december 24', '2026-12-23T23:00:00.000Z', '2026-12-24T22:59:59.999Z'],
])('%s is a day: its start as a start, its end as an end', (text, start, end) => {
  expect(new Date(parseBound(text, context, 'start')).toISOString()).toBe(start)
  expect(new Date(parseBound(text, context, 'end')).toISOString()).toBe(end)
})

it.each([
  ['2026-12-24T18:00', '2026-12-24T17:00:00.000Z'],
  ['tomorrow at 5pm', '2026-03-05T16:00:00.000Z'],
  ['in 2 hours', '2026-03-04T11:30:00.000Z'],
  ['90m', '2026-03-04T11:00:00.000Z'],
])('%s is the same instant as a start and as an end', (text, instant) => {
  for (const side of ['start', 'end'] as const)
    expect(new Date(parseBound(text, context, side)).toISOString()).toBe(instant)
})

it.each([
  ['soon', /is not a (?:start|time)(?!.*Did you mean)/],
  ['tomorow', /Did you mean 'tomorrow'\?/],
  ['next fryday at 9am', /Did you mean 'friday'\?/],
  ['2026-02-30', /There is no/],
  ['2026-13-01', /There is no month 13/],
] as const)('says of %j what is wrong, as for a time', (text, message) => {
  expect(() => parseBound(text, context, 'start')).toThrow(message)
})

it.each(['florp', 'every monday', ''])('refuses %j, with forms that work', (text) => {
  expect(() => parseBound(text, context, 'start')).toThrow(/Write it like '2026-12-24'/)
})
