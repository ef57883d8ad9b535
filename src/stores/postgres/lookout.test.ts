import { describe, expect, it } from 'vitest'
import type { Lease } from '../index.ts'
import { Lookout } from './lookout.ts'

const lease = (shard: number, epoch = 1): Lease => ({ shard, epoch, pool: 'app', owner: 'one', until: 0 })

/** Looks at shards, and finds this to be the first wake of each. */
function found(lookout: Lookout, first: number, ...shards: readonly number[]): Promise<void> {
  return lookout.looking(async (look) => {
    for (const shard of shards) lookout.raise(shard, first, look)
  })
}

describe('what is known of the shards', () => {
  it('is nothing at first: a look has no lower bound, and must be made', () => {
    const lookout = new Lookout()
    expect(lookout.low(1)).toBe(0)
    expect(lookout.quiet([lease(1)], 5)).toBeNull()
  })

  it('is from where a look may begin, until something is written below', async () => {
    const lookout = new Lookout()
    await found(lookout, 1_000, 1, 2)
    lookout.lower(1, 400)
    expect([lookout.low(1), lookout.low(2)]).toEqual([400, 1_000])
    lookout.lower(null, 300)
    expect([lookout.low(1), lookout.low(2)]).toEqual([300, 300])
    lookout.lower(null, 2_000)
    expect(lookout.low(1)).toBe(300)
  })

  it('is not raised by a look above what was written since it began', async () => {
    const lookout = new Lookout()
    const { news } = lookout
    await lookout.looking(async (look) => {
      lookout.lower(1, 50)
      lookout.lower(2, 10)
      lookout.raise(1, 100, look)
    })
    lookout.rest([lease(1)], null, news)
    expect(lookout.low(1)).toBe(50)
    expect(lookout.quiet([lease(1)], 5)).toBeNull()
    lookout.lower(1, 40)
    expect(lookout.low(1)).toBe(40)
  })

  it('holds what another process tells against every shard', async () => {
    const lookout = new Lookout()
    await lookout.looking(async (look) => {
      lookout.lower(null, 30)
      for (const shard of [1, 2]) lookout.raise(shard, 100, look)
    })
    expect([lookout.low(1), lookout.low(2)]).toEqual([30, 30])
  })

  it('forgets what a look found that was under way when everything was forgotten', async () => {
    const lookout = new Lookout()
    await lookout.looking(async (look) => {
      lookout.sweep()
      lookout.raise(1, 100, look)
    })
    expect(lookout.low(1)).toBe(0)
  })

  it('is not raised by a look that began above what is known: a backlog lies below it', async () => {
    const lookout = new Lookout()
    await found(lookout, 50, 1)
    await lookout.looking(async (look) => lookout.raise(1, 100, look, false))
    expect(lookout.low(1)).toBe(50)
    await lookout.looking(async (look) => lookout.raise(1, 20, look, false))
    expect(lookout.low(1)).toBe(20)
  })

  it('is not raised above what a beat found below while the look was under way', async () => {
    const lookout = new Lookout()
    await found(lookout, 1_000, 1)
    await lookout.looking(async (look) => {
      await found(lookout, 700, 1)
      lookout.raise(1, 1_000, look)
    })
    expect(lookout.low(1)).toBe(700)
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

  it('rests only where nothing was heard since the look began', () => {
    const lookout = new Lookout()
    const { news } = lookout
    lookout.rest([lease(1)], 100, news)
    lookout.lower(1, 200)
    lookout.rest([lease(1)], 300, news)
    expect(lookout.quiet([lease(1)], 99)).toMatchObject({ nextWakeAt: 100 })
  })

  it('gives way to what a beat finds, which looks without a lower bound', async () => {
    const lookout = new Lookout()
    await found(lookout, 1_000, 1)
    lookout.rest([lease(1)], 1_000, lookout.news)
    expect(lookout.heardOf(1_000)).toBe(false)
    expect(lookout.quiet([lease(1)], 5)).not.toBeNull()
    await found(lookout, 700, 1)
    expect(lookout.heardOf(700)).toBe(true)
    expect([lookout.low(1), lookout.quiet([lease(1)], 5)]).toEqual([700, null])
  })
})
