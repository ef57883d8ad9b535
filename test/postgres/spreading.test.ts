import { describe, expect, test } from 'vitest'
import { ANN } from '../../src/stores/conformance/harness.ts'
import { testDatabase } from './database.ts'
import { postgresBench } from './harness.ts'

/** Shards are spread evenly over live processes, and nothing fires twice because of it. */
const { url } = testDatabase()

describe('spreading', () => {
  test('a joining process gets its share; deliveries in flight finish first, and fire once', async () => {
    const { bench, peer } = await postgresBench(url, { shards: 8 })
    const other = await peer()
    const leases = await bench.heartbeat('one', ['app'])
    expect(leases).toHaveLength(8)
    for (let i = 0; i < 60; i++) await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const { timers: claimedTimers } = await bench.claim(leases)
    expect(new Set(claimedTimers.map(({ lease }) => lease.shard)).size).toBe(8)
    expect(await bench.heartbeat('two', ['app'], other)).toEqual([])
    // Everything is in flight: no shard is handed over, and four shards claim nothing more.
    expect(await bench.heartbeat('one', ['app'])).toHaveLength(8)
    for (let i = 0; i < 60; i++) await bench.alarm({ delay: '0s' })
    const flying = new Set(claimedTimers.map(({ timer }) => timer.id))
    const more = await bench.claim(leases, { inFlight: { size: flying.size, has: (id) => flying.has(id) } })
    expect(new Set(more.timers.map(({ lease }) => lease.shard)).size).toBe(4)
    await bench.settle([...claimedTimers, ...more.timers], 'delivered')
    expect(await bench.heartbeat('one', ['app'])).toHaveLength(4)
    const theirs = await bench.heartbeat('two', ['app'], other)
    expect(theirs).toHaveLength(4)
    const rest = await bench.claim(theirs, {}, other)
    expect(rest.timers.every(({ timer }) => timer.attempt === 0)).toBe(true)
    await bench.settle(rest.timers, 'delivered', other)
    expect((await bench.store.stats(ANN)).completed).toBe(120)
  })

  test('the remaining processes take over the shards of a leaving one', async () => {
    const { bench, peer } = await postgresBench(url, { shards: 8 })
    const [two, three] = [await peer(), await peer()]
    await bench.heartbeat('one', ['app'])
    await bench.heartbeat('two', ['app'], two)
    await bench.heartbeat('three', ['app'], three)
    for (let i = 0; i < 2; i++) {
      await bench.heartbeat('one', ['app'])
      await bench.heartbeat('two', ['app'], two)
      await bench.heartbeat('three', ['app'], three)
    }
    const theirs = await bench.heartbeat('two', ['app'], two)
    expect(theirs.length).toBeGreaterThanOrEqual(2)
    expect(theirs.length).toBeLessThanOrEqual(3)
    await two.leave('two')
    const one = await bench.heartbeat('one', ['app'])
    const last = await bench.heartbeat('three', ['app'], three)
    expect([one.length, last.length]).toEqual([4, 4])
  })
})
