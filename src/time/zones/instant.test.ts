import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant, INSTANT_MAX, INSTANT_MIN } from './canonical.ts'
import { parseInstant } from './instant.ts'

describe('parseInstant', () => {
  it.each([
    ['2026-12-24T18:00:00Z', '2026-12-24T18:00:00.000Z'],
    ['2026-12-24T18:00:00+01:00', '2026-12-24T17:00:00.000Z'],
    ['2026-12-24 18:00+0530', '2026-12-24T12:30:00.000Z'],
    ['2026-12-24T18:00-03', '2026-12-24T21:00:00.000Z'],
    ['20261224T180000Z', '2026-12-24T18:00:00.000Z'],
    ['2026-12-24t18:00:00.5z', '2026-12-24T18:00:00.500Z'],
    ['2026-12-24T18:00:00+01:00[Europe/Rome]', '2026-12-24T17:00:00.000Z'],
    ['2026-12-24T18:00:00[Europe/Rome]', '2026-12-24T17:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('parses %s', (text, instant) => {
    expect(formatInstant(parseInstant(text))).toBe(instant)
  })

  it('rounds fractions of a millisecond up, never early', () => {
    expect(parseInstant('2026-01-01T00:00:00.0000001Z') % 1000).toBe(1)
    expect(parseInstant(`2026-01-01T00:00:00.001${'0'.repeat(50)}Z`) % 1000).toBe(1)
    expect(parseInstant('2026-01-01T00:00:00.999999Z') % 60_000).toBe(1000)
    expect(parseInstant(Temporal.Instant.fromEpochNanoseconds(1_000_001n))).toBe(2)
    expect(parseInstant(Temporal.Instant.fromEpochNanoseconds(2_000_000n))).toBe(2)
  })

  it.each([
    '2026-12-24T18:00:00',
    '2026-12-24',
    '2026-02-30T10:00Z',
    '2026-13-01T10:00Z',
    '2026-12-24T24:00Z',
    '2026-12-24T18:00+25:00',
    '2026-12-24T18:00+02:00[Europe/Rome]',
    '2026-12-24T18:00Z[Mars/Base]',
    '9999-12-31T23:59:59.9999Z',
    '1969-12-31T23:59:59Z',
    'tomorrow',
    '',
  ])('refuses %j', (text) => {
    expect(() => parseInstant(text)).toThrow(expect.objectContaining({ code: 'invalid_time' }))
  })

  it('explains that an offset is missing', () => {
    expect(() => parseInstant('2026-12-24T18:00')).toThrow(/offset/)
  })

  it('accepts Dates, and refuses invalid ones, numbers and other values', () => {
    expect(parseInstant(new Date(5))).toBe(5)
    expect(() => parseInstant(1736882445 as never)).toThrow(/seconds or milliseconds/)
    for (const value of [
      new Date(Number.NaN),
      new Date(-1),
      null,
      undefined,
      {},
      [],
      true,
      Object.create(null),
      Object.create(Date.prototype),
      { [Symbol.toStringTag]: 'Date' },
    ]) {
      expect(() => parseInstant(value as never)).toThrow(expect.objectContaining({ code: 'invalid_time' }))
    }
  })

  it('round-trips every instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: INSTANT_MIN, max: INSTANT_MAX }), (ms) => {
        expect(parseInstant(formatInstant(ms))).toBe(ms)
      }),
    )
  })
})
