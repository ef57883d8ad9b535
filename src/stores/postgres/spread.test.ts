import { expect, it } from 'vitest'
import { spread } from './spread.ts'

const SHARDS = 64

it.each([1, 2, 3, 7, 9, 10, 63, 64, 65, 100])(
  'gives %i processes shares that differ by one at most and cover all',
  (live) => {
    const shares = Array.from({ length: live }, (_, rank) => {
      return spread({ shards: SHARDS, mine: 0, free: SHARDS, live, rank }).claim
    })
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(SHARDS)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
  },
)

it('gives up what is over the share, and claims no more than is free', () => {
  const state = { shards: SHARDS, live: 3, rank: 0 }
  expect(spread({ ...state, mine: 30, free: 5 })).toEqual({ claim: 0, giveUp: 8 })
  expect(spread({ ...state, mine: 10, free: 5 })).toEqual({ claim: 5, giveUp: 0 })
  expect(spread({ ...state, mine: 22, free: 5 })).toEqual({ claim: 0, giveUp: 0 })
})
