import { describe, expect, it } from 'vitest'
import { type PoolState, spread } from './spread.ts'

describe('a process aims at its share', () => {
  it.each([
    ['alone it takes all', { shards: 64, mine: 0, free: 64, live: 1 }, { claim: 64, giveUp: 0 }],
    ['with its share it does nothing', { shards: 64, mine: 32, free: 0, live: 2 }, { claim: 0, giveUp: 0 }],
    ['over its share it gives up', { shards: 64, mine: 64, free: 0, live: 2 }, { claim: 0, giveUp: 32 }],
    ['under it, it takes what is free', { shards: 64, mine: 10, free: 5, live: 2 }, { claim: 5, giveUp: 0 }],
    ['never more than its share', { shards: 64, mine: 30, free: 34, live: 2 }, { claim: 2, giveUp: 0 }],
    ['one shard is not passed on and on', { shards: 1, mine: 1, free: 0, live: 9 }, { claim: 0, giveUp: 0 }],
    ['the share is rounded up', { shards: 64, mine: 0, free: 64, live: 3 }, { claim: 22, giveUp: 0 }],
  ] satisfies [string, PoolState, ReturnType<typeof spread>][])('%s', (_, state, move) => {
    expect(spread(state)).toEqual(move)
  })

  it.each([1, 2, 3, 5, 7, 64, 100])('%i processes come to rest with every shard owned', (live) => {
    const owned = Array<number>(live).fill(0)
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < live; i++) {
        const free = 64 - owned.reduce((a, b) => a + b, 0)
        const { claim, giveUp } = spread({ shards: 64, mine: owned[i]!, free, live })
        owned[i]! += claim - giveUp
      }
    }
    expect(owned.reduce((a, b) => a + b, 0)).toBe(64)
    expect(Math.max(...owned)).toBe(Math.ceil(64 / live))
  })
})
