import { describe, expect, test } from 'vitest'
import type { ClaimedTimer } from '../../src/stores/index.ts'
import { testDatabase } from './database.ts'
import { postgresBench } from './harness.ts'

const { url } = testDatabase()

const idsOf = (claimedTimers: readonly ClaimedTimer[]) => claimedTimers.map(({ alarm }) => alarm.id).sort()
const holding = (claimedTimers: readonly ClaimedTimer[]) => ({
  size: claimedTimers.length,
  has: (id: number, version: number) =>
    claimedTimers.some(({ timer }) => timer.id === id && timer.version === version),
})

describe.each([1, 64])('a scan begins after what is in flight, with %i shards', (shards) => {
  test('also if all share an instant, and finds what was released before that bound', async () => {
    const { bench } = await postgresBench(url, { shards })
    const leases = await bench.heartbeat()
    const ids: string[] = []
    for (let i = 0; i < 6; i++) ids.push(await bench.alarm({ delay: '1h' }))
    bench.clock.step(3_600_000)
    const { timers: first } = await bench.claim(leases, { limit: 3 })
    const { timers: second } = await bench.claim(leases, { limit: 3, inFlight: holding(first) })
    expect(idsOf([...first, ...second])).toEqual(ids.sort())
    const all = holding([...first, ...second])
    expect((await bench.claim(leases, { inFlight: all })).timers).toEqual([])
    await bench.settle(first, 'released')
    const { timers: again } = await bench.claim(leases, { inFlight: all })
    expect(idsOf(again)).toEqual(idsOf(first))
  })

  test('finds what is set at the instant of a known bound, and what a heartbeat resets', async () => {
    const { bench } = await postgresBench(url, { shards })
    const leases = await bench.heartbeat()
    await bench.alarm({ delay: '1h' })
    bench.clock.step(3_600_000)
    const { timers: claimedTimers } = await bench.claim(leases)
    const late = await bench.alarm({ at: new Date(bench.now) })
    const { timers: next } = await bench.claim(leases, { inFlight: holding(claimedTimers) })
    expect(idsOf(next)).toEqual([late])
    const inFlight = holding([...claimedTimers, ...next])
    expect((await bench.claim(await bench.heartbeat(), { inFlight })).timers).toEqual([])
  })
})
