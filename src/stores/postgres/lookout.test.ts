import { describe, expect, it } from 'vitest'
import type { Lease } from '../index.ts'
import { Lookout, type Place } from './lookout.ts'

const lease = (shard: number, epoch = 1): Lease => ({ shard, epoch, pool: 'app', owner: 'one', until: 0 })

const at = (wakeAt: number, id = 0) => ({ wakeAt, id })

/** Looks at shards, and finds nothing up to a place of each. */
function found(lookout: Lookout, place: Place, ...shards: readonly number[]): Promise<void> {
  return lookout.during(async (look) => {
    for (const shard of shards) lookout.raise(look, shard, place)
  })
}

describe('what is known of the shards', () => {
  it('is nothing at first: a look has no lower bound, and must be made', () => {
    const lookout = new Lookout()
    expect(lookout.low(1)).toEqual(at(0))
    expect(lookout.quiet([lease(1)], 5)).toBeNull()
  })

  it('is from where a look may begin, until something is written below', async () => {
    const lookout = new Lookout()
    await found(lookout, at(1_000, 7), 1, 2)
    lookout.lower(1, 400)
    expect([lookout.low(1), lookout.low(2)]).toEqual([at(400), at(1_000, 7)])
    lookout.lower(2, 1_000)
    expect(lookout.low(2)).toEqual(at(1_000))
    lookout.lower(null, 300)
    expect(lookout.lows([1, 2])).toEqual([
      [300, 300],
      [0, 0],
    ])
    lookout.lower(null, 2_000)
    expect(lookout.low(1)).toEqual(at(300))
  })

  it('is raised by a look no further than to what was written since it began', async () => {
    const lookout = new Lookout()
    await lookout.during(async (look) => {
      lookout.lower(1, 500)
      lookout.lower(1, 800)
      lookout.lower(2, 3_000)
      for (const shard of [1, 2, 3]) lookout.raise(look, shard, at(1_000, 7))
    })
    expect([1, 2, 3].map((shard) => lookout.low(shard))).toEqual([at(500), at(1_000, 7), at(1_000, 7)])
    lookout.lower(1, 40)
    expect(lookout.low(1)).toEqual(at(40))
  })

  it('holds what another process tells against every shard', async () => {
    const lookout = new Lookout()
    await lookout.during(async (look) => {
      lookout.lower(null, 30)
      for (const shard of [1, 2]) lookout.raise(look, shard, at(100))
    })
    expect([lookout.low(1), lookout.low(2)]).toEqual([at(30), at(30)])
  })

  it('is not brought back by a look that began before everything was forgotten', async () => {
    const lookout = new Lookout()
    await lookout.during(async (look) => {
      lookout.sweep()
      lookout.raise(look, 1, at(1_000))
    })
    expect(lookout.low(1)).toEqual(at(0))
  })

  it('is not raised by a look that began above what is known: a backlog lies below it', async () => {
    const lookout = new Lookout()
    await found(lookout, at(50, 3), 1)
    await lookout.during(async (look) => lookout.raise(look, 1, at(100), false))
    expect(lookout.low(1)).toEqual(at(50, 3))
    await lookout.during(async (look) => lookout.raise(look, 1, at(50), false))
    expect(lookout.low(1)).toEqual(at(50))
  })

  it('is not raised above what a beat found below while the look was under way', async () => {
    const lookout = new Lookout()
    await found(lookout, at(1_000, 7), 1)
    await lookout.during(async (look) => {
      await found(lookout, at(1_000), 1)
      lookout.raise(look, 1, at(1_000, 9))
    })
    expect(lookout.low(1)).toEqual(at(1_000))
  })

  it('does not last where something was written while nothing was found', () => {
    const lookout = new Lookout()
    const { news } = lookout
    lookout.rest([lease(1)], 100, news)
    lookout.lower(1, 200)
    lookout.rest([lease(1)], 300, news)
    expect(lookout.quiet([lease(1)], 99)).toMatchObject({ nextWakeAt: 100 })
    lookout.lower(1, 50)
    lookout.rest([lease(1)], null, news)
    expect(lookout.quiet([lease(1)], 5)).toBeNull()
  })

  it('is when the next one comes, for the same leases, until it comes or an earlier one is heard of', () => {
    const lookout = new Lookout()
    lookout.rest([lease(1)], 1_000, lookout.news)
    expect(lookout.quiet([lease(1)], 999)?.nextWakeAt).toBe(1_000)
    expect(lookout.quiet([lease(1)], 1_000)).toBeNull()
    expect(lookout.quiet([lease(1), lease(2)], 5)).toBeNull()
    expect(lookout.quiet([lease(1, 2)], 5)).toBeNull()
    lookout.lower(1, 2_000)
    expect(lookout.quiet([lease(1)], 5)).not.toBeNull()
    lookout.lower(1, 900)
    expect(lookout.quiet([lease(1)], 5)).toBeNull()
  })

  it('gives way to what a beat finds, which looks without a lower bound', async () => {
    const lookout = new Lookout()
    await found(lookout, at(1_000), 1)
    lookout.rest([lease(1)], 1_000, lookout.news)
    expect(lookout.heardOf(1_000)).toBe(false)
    expect(lookout.quiet([lease(1)], 5)).not.toBeNull()
    await found(lookout, at(700), 1)
    expect(lookout.heardOf(700)).toBe(true)
    expect([lookout.low(1), lookout.quiet([lease(1)], 5)]).toEqual([at(700), null])
  })
})
