import { describe, expect, it } from 'vitest'
import type { Lease } from '../index.ts'
import { Lookout } from './lookout.ts'

const lease = (shard: number, epoch = 1): Lease => ({ shard, epoch, pool: 'app', owner: 'one', until: 0 })

describe('what is known of the shards', () => {
  it('is nothing at first: a look has no lower bound, and must be made', () => {
    const lookout = new Lookout()
    expect(lookout.low(1)).toBe(0)
    expect(lookout.quiet([lease(1)], 5)).toBeNull()
  })

  it('is from where a look may begin, until something is written below', () => {
    const lookout = new Lookout()
    for (const shard of [1, 2]) lookout.raise(shard, 1_000, lookout.news)
    lookout.lower(1, 400)
    expect([lookout.low(1), lookout.low(2)]).toEqual([400, 1_000])
    lookout.lower(null, 300)
    expect([lookout.low(1), lookout.low(2)]).toEqual([300, 300])
    lookout.lower(null, 2_000)
    expect(lookout.low(1)).toBe(300)
  })

  it('is not raised by a look that began before something was written', () => {
    const lookout = new Lookout()
    const { news } = lookout
    lookout.lower(1, 500)
    lookout.raise(1, 1_000, news)
    lookout.rest([lease(1)], null, news)
    expect(lookout.low(1)).toBe(0)
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

  it('gives way to what a beat finds, which looks without a lower bound', () => {
    const lookout = new Lookout()
    lookout.raise(1, 1_000, lookout.news)
    lookout.rest([lease(1)], 1_000, lookout.news)
    expect(lookout.heardOf(1_000)).toBe(false)
    expect(lookout.quiet([lease(1)], 5)).not.toBeNull()
    expect(lookout.heardOf(700)).toBe(true)
    expect([lookout.low(1), lookout.quiet([lease(1)], 5)]).toEqual([0, null])
  })
})
