import { describe, expect, it } from 'vitest'
import type { Lease } from '../index.ts'
import { NextWakeCache, type Position } from './next-wake-cache.ts'

const lease = (shard: number, epoch = 1): Lease => ({ shard, epoch, pool: 'app', holder: 'one', until: 0 })

const at = (wakeAt: number, id = 0) => ({ wakeAt, id })

/** Looks at shards, and finds nothing up to a place of each. */
function found(lookout: NextWakeCache, place: Position, ...shards: readonly number[]): Promise<void> {
  return lookout.scan(async (look) => {
    for (const shard of shards) lookout.raise(look, shard, place)
  })
}

/** Looks under these leases, and finds these first wakes. */
function kept(lookout: NextWakeCache, leases: readonly Lease[], firsts: [number, number][]): Promise<void> {
  return lookout.scan(async (look) => lookout.keep(look, leases, new Map(firsts)))
}

describe('what is known of the shards', () => {
  it('is nothing at first: a look has no lower bound, and must be made', () => {
    const lookout = new NextWakeCache()
    expect(lookout.lowerBound(1)).toEqual(at(0))
    expect(lookout.known([lease(1)])).toBeNull()
  })

  it('is from where a look may begin, until something is written below', async () => {
    const lookout = new NextWakeCache()
    await found(lookout, at(1_000, 7), 1, 2)
    lookout.lower(1, 400)
    expect([lookout.lowerBound(1), lookout.lowerBound(2)]).toEqual([at(400), at(1_000, 7)])
    lookout.lower(2, 1_000)
    expect(lookout.lowerBound(2)).toEqual(at(1_000))
    lookout.lower(null, 300)
    expect(lookout.lowerBounds([1, 2])).toEqual([
      [300, 300],
      [0, 0],
    ])
    lookout.lower(null, 2_000)
    expect(lookout.lowerBound(1)).toEqual(at(300))
  })

  it('is raised by a look no further than to what was written since it began', async () => {
    const lookout = new NextWakeCache()
    await lookout.scan(async (look) => {
      lookout.lower(1, 500)
      lookout.lower(1, 800)
      lookout.lower(2, 3_000)
      for (const shard of [1, 2, 3]) lookout.raise(look, shard, at(1_000, 7))
    })
    expect([1, 2, 3].map((shard) => lookout.lowerBound(shard))).toEqual([at(500), at(1_000, 7), at(1_000, 7)])
    lookout.lower(1, 40)
    expect(lookout.lowerBound(1)).toEqual(at(40))
  })

  it('holds what another process tells against every shard', async () => {
    const lookout = new NextWakeCache()
    await lookout.scan(async (look) => {
      lookout.lower(null, 30)
      for (const shard of [1, 2]) lookout.raise(look, shard, at(100))
    })
    expect([lookout.lowerBound(1), lookout.lowerBound(2)]).toEqual([at(30), at(30)])
  })

  it('is not brought back by a look that began before everything was forgotten', async () => {
    const lookout = new NextWakeCache()
    await lookout.scan(async (look) => {
      lookout.sweep()
      lookout.raise(look, 1, at(1_000))
    })
    expect(lookout.lowerBound(1)).toEqual(at(0))
  })

  it('is not raised by a look that began above what is known: a backlog lies below it', async () => {
    const lookout = new NextWakeCache()
    await found(lookout, at(50, 3), 1)
    await lookout.scan(async (look) => lookout.raise(look, 1, at(100), false))
    expect(lookout.lowerBound(1)).toEqual(at(50, 3))
    await lookout.scan(async (look) => lookout.raise(look, 1, at(50), false))
    expect(lookout.lowerBound(1)).toEqual(at(50))
  })

  it('is not raised above what a beat found below while the look was under way', async () => {
    const lookout = new NextWakeCache()
    await found(lookout, at(1_000, 7), 1)
    await lookout.scan(async (look) => {
      await found(lookout, at(1_000), 1)
      lookout.raise(look, 1, at(1_000, 9))
    })
    expect(lookout.lowerBound(1)).toEqual(at(1_000))
  })

  it('is when each wakes first, under the same leases, with whatever is written there later', async () => {
    const lookout = new NextWakeCache()
    await kept(lookout, [lease(1), lease(2)], [[1, 1_000]])
    expect(lookout.known([lease(1), lease(2)])).toEqual(new Map([[1, 1_000]]))
    expect(lookout.known([lease(1)])).toBeNull()
    expect(lookout.known([lease(1, 2), lease(2)])).toBeNull()
    lookout.lower(1, 2_000)
    lookout.lower(2, 3_000)
    lookout.lower(2, 2_500)
    lookout.lower(3, 10)
    expect(lookout.known([lease(1), lease(2)])).toEqual(
      new Map([
        [1, 1_000],
        [2, 2_500],
      ]),
    )
  })

  it('is when each wakes first, with what was written while the look was under way', async () => {
    const lookout = new NextWakeCache()
    await lookout.scan(async (look) => {
      lookout.lower(1, 500)
      lookout.lower(2, 700)
      lookout.lower(3, 10)
      lookout.keep(look, [lease(1), lease(2)], new Map([[1, 1_000]]))
    })
    expect(lookout.known([lease(1), lease(2)])).toEqual(
      new Map([
        [1, 500],
        [2, 700],
      ]),
    )
  })

  it('is nothing where something was written nobody knows in which shard', async () => {
    const lookout = new NextWakeCache()
    await kept(lookout, [lease(1)], [[1, 1_000]])
    lookout.lower(null, 9_000)
    expect(lookout.known([lease(1)])).toBeNull()
    await lookout.scan(async (look) => {
      lookout.lower(null, 9_000)
      lookout.keep(look, [lease(1)], new Map())
    })
    expect(lookout.known([lease(1)])).toBeNull()
  })

  it('is nothing where everything was forgotten meanwhile', async () => {
    const lookout = new NextWakeCache()
    await lookout.scan(async (look) => {
      lookout.sweep()
      lookout.keep(look, [lease(1)], new Map())
    })
    expect(lookout.known([lease(1)])).toBeNull()
  })

  it('takes in what a beat finds, which looks without a lower bound', async () => {
    const lookout = new NextWakeCache()
    await kept(lookout, [lease(1), lease(2)], [[1, 1_000]])
    const beat = (first: number) =>
      lookout.heardOf(
        new Map([
          [1, 1_000],
          [2, first],
        ]),
      )
    expect(beat(2_000)).toBe(false)
    expect(beat(700)).toBe(true)
    expect(lookout.known([lease(1), lease(2)])?.get(2)).toBe(700)
    await lookout.scan(async (look) => {
      beat(600)
      lookout.keep(look, [lease(1), lease(2)], new Map())
    })
    expect(lookout.known([lease(1), lease(2)])?.get(2)).toBe(600)
  })
})
