import { expect, it } from 'vitest'
import { humanizeDuration } from '../../time/index.ts'
import { localTime, relativeTime, shortTime, timeFor } from './time-text.ts'

it.each([
  ['2026-11-15T08:00:00.000Z', 'Europe/Rome', '2026-11-15 09:00:00 +01:00'],
  ['2026-07-15T23:30:00.000Z', 'Europe/Rome', '2026-07-16 01:30:00 +02:00'],
  ['2026-11-15T08:00:00.999Z', 'UTC', '2026-11-15 08:00:00 +00:00'],
  ['9999-12-31T23:59:59.999Z', 'Asia/Kolkata', '10000-01-01 05:29:59 +05:30'],
  ['1970-01-01T00:00:00.000Z', 'America/St_Johns', '1969-12-31 20:30:00 -03:30'],
])('prints %s in %s as %s', (instant, zone, expected) => {
  expect(localTime(new Date(instant), zone)).toBe(expected)
})

it.each([
  [0, '0ms'],
  [999, '999ms'],
  [1500, '2s'],
  [59_999, '1m'],
  [90_000, '1m 30s'],
  [3_599_999, '1h'],
  [12_000_000, '3h 20m'],
  [86_399_999, '1d'],
  [187_200_000, '2d 4h'],
  [175_320_000, '2d 42m'],
  [189_720_000, '2d 5h'],
  [172_805_000, '2d'],
  [3_605_000, '1h'],
  [86_400_000 * 800, '2y'],
])('prints %i ms as %s', (ms, expected) => {
  expect(humanizeDuration(ms)).toBe(expected)
})

it('prints an instant in the zone of the reader, and in another', () => {
  const view = { zone: 'UTC', now: () => Date.parse('2026-11-15T08:00:00Z') }
  const at = new Date('2026-11-15T09:00:00Z')
  expect(timeFor(at, view, 'UTC')).toBe('2026-11-15 09:00:00 +00:00 (in 1h)')
  expect(timeFor(at, view, 'Asia/Tokyo')).toBe(
    '2026-11-15 09:00:00 +00:00 (in 1h) = 2026-11-15 18:00:00 +09:00 Asia/Tokyo',
  )
})

it('prints the distance of an instant', () => {
  const now = 1_800_000_000_000
  expect(relativeTime(new Date(now + 10_800_000), now)).toBe('in 3h')
  expect(relativeTime(new Date(now - 5000), now)).toBe('5s ago')
  expect(relativeTime(new Date(now + 100), now)).toBe('now')
})

it.each([
  ['2026-11-15T09:30:02.000Z', 'today 10:30:02'],
  ['2026-11-14T22:30:00.000Z', 'Nov 14 23:30'],
  ['2026-11-14T23:30:00.000Z', 'today 00:30:00'],
  ['2026-09-01T07:00:00.000Z', 'Sep 1 09:00'],
  ['2027-03-28T01:30:00.000Z', '2027-03-28 03:30'],
])('shortens %s to %s', (instant, expected) => {
  expect(shortTime(new Date(instant), 'Europe/Rome', Date.parse('2026-11-15T08:00:00Z'))).toBe(expected)
})

it('rejects an unknown zone', () => {
  expect(() => localTime(new Date(0), 'Mars/Olympus')).toThrow(/not a known time zone/)
})
