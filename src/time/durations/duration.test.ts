import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { WakefulError } from '../../error.ts'
import { DURATION_MAX_MS, formatDuration, humanizeDuration, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['0s', 0],
    ['0.057s', 57],
    ['0.0001s', 1],
    ['0.3007 days', 25_980_480],
    ['1.1h 0.1m 0.3s 0.7ms', 3_966_301],
    ['1000000000000.000000001ms', 1_000_000_000_001],
    ['30 minutes', 1_800_000],
    ['1 hour, 5 min', 3_900_000],
    ['PT10M', 600_000],
    ['P1DT2H', 93_600_000],
    ['P2W', 1_209_600_000],
    ['PT0.5S', 500],
    ['pt1h', 3_600_000],
    ['P1D', 86_400_000],
  ])('parses %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it('refuses an object that looks like a Date, without calling it', () => {
    expect(() => parseDuration(Object.create(Date.prototype) as never)).toThrow(/an object is not a duration/)
  })

  it.each([
    '',
    ' ',
    '10',
    '-5m',
    '+5m',
    'P-1D',
    '10x',
    '5m5m',
    '30m1h',
    'm',
    'P',
    'PT',
    'P1DT',
    'NaN',
    'Infinity',
    '1e3s',
    '10M',
    '9999999w',
    '999999999999999999d',
    '5 m m',
    '1h and 5m',
  ])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'invalid_time' }))
  })

  it.each(['1 month', '2y', 'P1M', 'P1Y', '3 years'])('explains that %s has no fixed length', (text) => {
    expect(() => parseDuration(text)).toThrow(/no fixed length/)
  })

  it('refuses values that are no text', () => {
    for (const value of [5, null, undefined, {}, Object.create(null), Symbol('x')]) {
      expect(() => parseDuration(value as never)).toThrow(WakefulError)
    }
  })

  it('refuses a long text at once', () => {
    const start = cpuMs()
    expect(() => parseDuration('1'.repeat(1_000_000))).toThrow(WakefulError)
    expect(() => parseDuration(`${'1h '.repeat(300)}x`)).toThrow(WakefulError)
    expect(cpuMs() - start).toBeLessThan(500)
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [250, '250ms'],
    [5_400_000, '1h30m'],
    [604_800_000, '1w'],
    [90_061_001, '1d1h1m1s1ms'],
  ])('formats %i as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('round-trips every duration', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DURATION_MAX_MS }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
    )
  })

  it('refuses numbers that are no duration', () => {
    for (const ms of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => formatDuration(ms)).toThrow(WakefulError)
  })
})

describe('humanizeDuration', () => {
  it.each([
    [2 * 86_400_000 + 23.75 * 3_600_000, '3d'],
    [2 * 86_400_000 + 42 * 60_000, '2d 42m'],
    [3_600_000 + 59.75 * 60_000, '2h'],
    [86_399_999, '1d'],
    [119_600, '2m'],
    [999.7, '1s'],
    [90_000, '1m 30s'],
  ])('%d ms is %s', (ms, text) => {
    expect(humanizeDuration(ms)).toBe(text)
  })

  it('never has 24 hours beside days, nor 60 of a unit, and is off by half of its second unit at most', () => {
    const sizes = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }
    const most = { d: 800, h: 23, m: 59, s: 59, ms: 999 }
    const anyLength = fc.oneof(
      fc.integer({ min: 0, max: 700 * 86_400_000 }),
      fc.double({ min: 0, max: 10_000_000, noNaN: true }),
      // Just below a whole number of units, where rounding carries.
      fc
        .tuple(
          fc.integer({ min: 1, max: 100 }),
          fc.constantFrom(1000, 60_000, 3_600_000, 86_400_000),
          fc.nat(2_000_000),
        )
        .map(([count, size, less]) => Math.max(0, count * size - less)),
    )
    fc.assert(
      fc.property(anyLength, (ms) => {
        const parts = humanizeDuration(ms)
          .split(' ')
          .map((part) => /^(\d+)(d|h|m|s|ms)$/.exec(part)!)
          .map(([, count, unit]) => ({ count: Number(count), unit: unit as keyof typeof sizes }))
        for (const { count, unit } of parts) expect(count).toBeLessThanOrEqual(most[unit])
        const total = parts.reduce((sum, { count, unit }) => sum + count * sizes[unit], 0)
        expect(Math.abs(total - ms)).toBeLessThanOrEqual(ms < 3_599_500 ? 30_000 : 12 * 3_600_000)
      }),
      { numRuns: 2000 },
    )
  })
})
