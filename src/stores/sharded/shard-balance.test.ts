import { describe, expect, it } from 'vitest'
import { type PoolState, rebalance } from './shard-balance.ts'

const SHARDS = 64

describe('a process aims at its share', () => {
  it.each([
    ['alone it acquires all', { mine: 0, free: 64, live: 1, rank: 0 }, { acquire: 64, release: 0 }],
    ['with its share it does nothing', { mine: 32, free: 0, live: 2, rank: 1 }, { acquire: 0, release: 0 }],
    ['also where others have none yet', { mine: 22, free: 5, live: 3, rank: 0 }, { acquire: 0, release: 0 }],
    ['over its share it releases', { mine: 64, free: 0, live: 2, rank: 0 }, { acquire: 0, release: 32 }],
    ['and acquires nothing', { mine: 30, free: 5, live: 3, rank: 0 }, { acquire: 0, release: 8 }],
    [
      'under it, it acquires what is free',
      { mine: 10, free: 5, live: 2, rank: 0 },
      { acquire: 5, release: 0 },
    ],
    ['never more than its share', { mine: 30, free: 34, live: 2, rank: 1 }, { acquire: 2, release: 0 }],
    ['the first have one more', { mine: 0, free: 64, live: 3, rank: 0 }, { acquire: 22, release: 0 }],
    ['than those after them', { mine: 0, free: 64, live: 3, rank: 1 }, { acquire: 21, release: 0 }],
  ] satisfies [string, Omit<PoolState, 'shards'>, ReturnType<typeof rebalance>][])(
    '%s',
    (_, state, expected) => {
      expect(rebalance({ shards: SHARDS, ...state })).toEqual(expected)
    },
  )

  it('one shard is not passed on and on: the first in the order keeps it', () => {
    const rebalances = Array.from({ length: 9 }, (_, rank) => {
      return rebalance({ shards: 1, mine: rank === 0 ? 1 : 0, free: 0, live: 9, rank })
    })
    expect(new Set(rebalances.map(({ acquire, release }) => acquire + release))).toEqual(new Set([0]))
  })

  it.each([1, 2, 3, 7, 9, 10, 63, 64, 65, 100])(
    'gives %i processes shares that differ by one at most and cover all',
    (live) => {
      const shares = Array.from({ length: live }, (_, rank) => {
        return rebalance({ shards: SHARDS, mine: 0, free: SHARDS, live, rank }).acquire
      })
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(SHARDS)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    },
  )

  it.each([1, 2, 3, 5, 7, 9, 64, 100])('%i processes come to rest with every shard owned', (live) => {
    const owned = Array<number>(live).fill(0)
    for (let round = 0; round < 5; round++) {
      for (let rank = 0; rank < live; rank++) {
        const free = SHARDS - owned.reduce((a, b) => a + b, 0)
        const { acquire, release } = rebalance({ shards: SHARDS, mine: owned[rank]!, free, live, rank })
        owned[rank]! += acquire - release
      }
    }
    expect(owned.reduce((a, b) => a + b, 0)).toBe(SHARDS)
    expect(Math.max(...owned)).toBe(Math.ceil(SHARDS / live))
  })
})
