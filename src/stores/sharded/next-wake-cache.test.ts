import { describe, expect, it } from 'vitest'
import type { Lease } from '../index.ts'
import { NextWakeCache, type Position } from './next-wake-cache.ts'

const lease = (shard: number, epoch = 1): Lease => ({ shard, epoch, pool: 'app', holder: 'one', until: 0 })

const at = (wakeAt: number, id = 0) => ({ wakeAt, id })

/** Looks at shards, and finds nothing up to a place of each. */
function found(cache: NextWakeCache, place: Position, ...shards: readonly number[]): Promise<void> {
  return cache.scan(async (scan) => {
    for (const shard of shards) cache.raiseLowerBound(scan, shard, place)
  })
}

/** Looks under these leases, and finds these first wakes. */
function kept(cache: NextWakeCache, leases: readonly Lease[], firsts: [number, number][]): Promise<void> {
  return cache.scan(async (scan) => cache.keep(scan, leases, new Map(firsts)))
}

describe('what is known of the shards', () => {
  it('is nothing at first: a look has no lower bound, and must be made', () => {
    const cache = new NextWakeCache()
    expect(cache.lowerBound(1)).toEqual(at(0))
    expect(cache.known([lease(1)])).toBeNull()
  })

  it('is from where a look may begin, until something is written below', async () => {
    const cache = new NextWakeCache()
    await found(cache, at(1_000, 7), 1, 2)
    cache.noteWake(1, 400)
    expect([cache.lowerBound(1), cache.lowerBound(2)]).toEqual([at(400), at(1_000, 7)])
    cache.noteWake(2, 1_000)
    expect(cache.lowerBound(2)).toEqual(at(1_000))
    cache.noteWake(null, 300)
    expect(cache.lowerBounds([1, 2])).toEqual([
      [300, 300],
      [0, 0],
    ])
    cache.noteWake(null, 2_000)
    expect(cache.lowerBound(1)).toEqual(at(300))
  })

  it('is raised by a look no further than to what was written since it began', async () => {
    const cache = new NextWakeCache()
    await cache.scan(async (scan) => {
      cache.noteWake(1, 500)
      cache.noteWake(1, 800)
      cache.noteWake(2, 3_000)
      for (const shard of [1, 2, 3]) cache.raiseLowerBound(scan, shard, at(1_000, 7))
    })
    expect([1, 2, 3].map((shard) => cache.lowerBound(shard))).toEqual([at(500), at(1_000, 7), at(1_000, 7)])
    cache.noteWake(1, 40)
    expect(cache.lowerBound(1)).toEqual(at(40))
  })

  it('holds what another process tells against every shard', async () => {
    const cache = new NextWakeCache()
    await cache.scan(async (scan) => {
      cache.noteWake(null, 30)
      for (const shard of [1, 2]) cache.raiseLowerBound(scan, shard, at(100))
    })
    expect([cache.lowerBound(1), cache.lowerBound(2)]).toEqual([at(30), at(30)])
  })

  it('is not brought back by a look that began before everything was forgotten', async () => {
    const cache = new NextWakeCache()
    await cache.scan(async (scan) => {
      cache.clear()
      cache.raiseLowerBound(scan, 1, at(1_000))
    })
    expect(cache.lowerBound(1)).toEqual(at(0))
  })

  it('is not raised by a look that began above what is known: a backlog lies below it', async () => {
    const cache = new NextWakeCache()
    await found(cache, at(50, 3), 1)
    await cache.scan(async (scan) => cache.raiseLowerBound(scan, 1, at(100), false))
    expect(cache.lowerBound(1)).toEqual(at(50, 3))
    await cache.scan(async (scan) => cache.raiseLowerBound(scan, 1, at(50), false))
    expect(cache.lowerBound(1)).toEqual(at(50))
  })

  it('is not raised above what a beat found below while the look was under way', async () => {
    const cache = new NextWakeCache()
    await found(cache, at(1_000, 7), 1)
    await cache.scan(async (scan) => {
      await found(cache, at(1_000), 1)
      cache.raiseLowerBound(scan, 1, at(1_000, 9))
    })
    expect(cache.lowerBound(1)).toEqual(at(1_000))
  })

  it('is when each wakes first, under the same leases, with whatever is written there later', async () => {
    const cache = new NextWakeCache()
    await kept(cache, [lease(1), lease(2)], [[1, 1_000]])
    expect(cache.known([lease(1), lease(2)])).toEqual(new Map([[1, 1_000]]))
    expect(cache.known([lease(1)])).toBeNull()
    expect(cache.known([lease(1, 2), lease(2)])).toBeNull()
    cache.noteWake(1, 2_000)
    cache.noteWake(2, 3_000)
    cache.noteWake(2, 2_500)
    cache.noteWake(3, 10)
    expect(cache.known([lease(1), lease(2)])).toEqual(
      new Map([
        [1, 1_000],
        [2, 2_500],
      ]),
    )
  })

  it('is when each wakes first, with what was written while the look was under way', async () => {
    const cache = new NextWakeCache()
    await cache.scan(async (scan) => {
      cache.noteWake(1, 500)
      cache.noteWake(2, 700)
      cache.noteWake(3, 10)
      cache.keep(scan, [lease(1), lease(2)], new Map([[1, 1_000]]))
    })
    expect(cache.known([lease(1), lease(2)])).toEqual(
      new Map([
        [1, 500],
        [2, 700],
      ]),
    )
  })

  it('is nothing where something was written nobody knows in which shard', async () => {
    const cache = new NextWakeCache()
    await kept(cache, [lease(1)], [[1, 1_000]])
    cache.noteWake(null, 9_000)
    expect(cache.known([lease(1)])).toBeNull()
    await cache.scan(async (scan) => {
      cache.noteWake(null, 9_000)
      cache.keep(scan, [lease(1)], new Map())
    })
    expect(cache.known([lease(1)])).toBeNull()
  })

  it('is nothing where everything was forgotten meanwhile', async () => {
    const cache = new NextWakeCache()
    await cache.scan(async (scan) => {
      cache.clear()
      cache.keep(scan, [lease(1)], new Map())
    })
    expect(cache.known([lease(1)])).toBeNull()
  })

  it('takes in what a beat finds, which looks without a lower bound', async () => {
    const cache = new NextWakeCache()
    await kept(cache, [lease(1), lease(2)], [[1, 1_000]])
    const beat = (first: number) =>
      cache.noteHeartbeat(
        new Map([
          [1, 1_000],
          [2, first],
        ]),
      )
    expect(beat(2_000)).toBe(false)
    expect(beat(700)).toBe(true)
    expect(cache.known([lease(1), lease(2)])?.get(2)).toBe(700)
    await cache.scan(async (scan) => {
      beat(600)
      cache.keep(scan, [lease(1), lease(2)], new Map())
    })
    expect(cache.known([lease(1), lease(2)])?.get(2)).toBe(600)
  })
})
