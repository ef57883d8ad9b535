import { expect, it } from 'vitest'
import { readSince, readWhen } from './when-arguments.ts'

it('reads plain language, quoted or not', () => {
  expect(readWhen(['tomorrow at 9am'], {})).toBe('tomorrow at 9am')
  expect(readWhen(['in', '10', 'minutes'], {})).toBe('in 10 minutes')
})

it('reads the options of a time', () => {
  expect(readWhen([], { cron: '0 9 * * *', count: 3 })).toEqual({ cron: '0 9 * * *', count: 3 })
  expect(readWhen([], { every: '5m', start: '2027-01-01T00:00Z', misfire: 'skip' })).toEqual({
    every: '5m',
    start: '2027-01-01T00:00Z',
    misfire: 'skip',
  })
  expect(readWhen([], { unix: '1799999999.5' })).toEqual({ unix: 1_799_999_999.5 })
  expect(readWhen([], { delay: '10m' })).toEqual({ delay: '10m' })
  expect(readWhen(['at noon'], { misfire: 'skip' })).toEqual({ at: 'at noon', misfire: 'skip' })
})

it('rejects no time and more than one', () => {
  expect(() => readWhen([], {})).toThrow(/The time is missing/)
  expect(() => readWhen(['tomorrow'], { cron: '@daily' })).toThrow(/This time has `at` and `cron`/)
  expect(() => readWhen([], { unix: 'soon' })).toThrow(/must be a number of seconds/)
})

it.each([
  ['1736882445', /--unix 1736882445/],
  ['0 9 * * 1-5', /--cron '0 9 \* \* 1-5'/],
  ['*/5 * * * *', /--cron/],
  ['@daily', /--cron '@daily'/],
])('suggests the right option for %s', (text, hint) => {
  expect(() => readWhen([text], {})).toThrow(hint)
})

it('reads --since as seconds since 1970, a duration or plain language', () => {
  const now = 1_800_000_000_000
  const view = { now: () => now, zone: 'Europe/Rome' }
  expect(readSince('1709395200', view)).toEqual(new Date(1_709_395_200_000))
  expect(readSince('2h', view)).toEqual(new Date(now - 7_200_000))
  expect(readSince('2026-11-01T00:00Z', view)).toEqual(new Date('2026-11-01T00:00Z'))
  expect(readSince('2026-11-01T00:00', view)).toEqual(new Date('2026-10-31T23:00Z'))
  expect(() => readSince('florp', view)).toThrow("'florp' is not a time")
})

it('reads days off by name, and where they move', () => {
  expect(readWhen([], { cron: '@daily', exclude: ['weekends', 'us'] })).toEqual({
    cron: '@daily',
    exclude: ['weekends', 'us'],
  })
  expect(readWhen([], { cron: '@daily', exclude: ['weekends', 'us'], move: 'next', offset: 2 })).toEqual({
    cron: '@daily',
    exclude: { calendars: ['us'], weekend: [6, 7], move: 'next', offset: 2 },
  })
  expect(() => readWhen([], { cron: '@daily', move: 'next' })).toThrow(/`exclude.move` needs `exclude`/)
  expect(() => readWhen([], { cron: '@daily', exclude: ['us'], offset: 2 })).toThrow(
    /`exclude.offset` needs `exclude.move`/,
  )
})
