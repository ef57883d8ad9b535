import fc from 'fast-check'
import { expect, it } from 'vitest'
import { backoff } from './backoff.ts'

const options = { baseMs: 5000, capMs: 3_600_000 }

it('doubles from the base up to the cap', () => {
  expect([1, 2, 3, 4, 10, 11].map((attempt) => backoff(attempt, options, 0))).toEqual([
    5000, 10_000, 20_000, 40_000, 2_560_000, 3_600_000,
  ])
})

it('adds at most 10% and stays a whole number for any attempt', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, random01) => {
        const plain = backoff(attempt, options, 0)
        const ms = backoff(attempt, options, random01)
        expect(Number.isSafeInteger(ms)).toBe(true)
        expect(ms).toBeGreaterThanOrEqual(plain)
        expect(ms).toBeLessThanOrEqual(plain * 1.1)
      },
    ),
  )
})

it('does not wait if the base is zero', () => {
  expect(backoff(1e9, { baseMs: 0, capMs: 1000 }, 0.5)).toBe(0)
})
