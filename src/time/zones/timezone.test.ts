import { expect, it } from 'vitest'
import { assertTimezone, zoneNote } from './canonical.ts'

it('accepts IANA names in any case, and keeps links', () => {
  expect(assertTimezone('Europe/Rome')).toBe('Europe/Rome')
  expect(assertTimezone('europe/rome')).toBe('Europe/Rome')
  expect(assertTimezone('Asia/Calcutta')).toBe('Asia/Calcutta')
  expect(assertTimezone('UTC')).toBe('UTC')
})

it.each([
  ['Europe/Roma', 'Europe/Rome'],
  ['Rome', 'Europe/Rome'],
  ['America/NewYork', 'America/New_York'],
  ['new york', 'America/New_York'],
  ['NewYork', 'America/New_York'],
])('suggests a close name for %s', (zone, suggestion) => {
  expect(() => assertTimezone(zone)).toThrow(`Did you mean '${suggestion}'?`)
})

it('notes legacy names and fixed offsets', () => {
  expect(zoneNote(assertTimezone('est'))).toBe(
    'EST has no daylight saving time. Use America/New_York to follow it',
  )
  expect(zoneNote('EST5EDT')).toMatch(/an old name for America\/New_York/)
  expect(zoneNote('Etc/GMT+5')).toMatch(/fixed offset/)
  expect(['UTC', 'Etc/GMT', 'Europe/Rome'].map(zoneNote)).toEqual([null, null, null])
})

it.each([
  '',
  'Mars/Base',
  '+02:00',
  'PST',
  '2026-01-01T00:00[UTC]',
  '__proto__',
  'x'.repeat(10_000),
  5,
  null,
  {},
])('refuses %j', (zone) => {
  expect(() => assertTimezone(zone as string)).toThrow(expect.objectContaining({ code: 'invalid_timezone' }))
})
