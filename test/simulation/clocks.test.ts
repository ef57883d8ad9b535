import { describe, expect, it } from 'vitest'
import { type MinimalScenario, minimalScenario, problemsOf } from './minimal-scenario.ts'

/*
 * With a shared database, Wakeful does not use the hosts' wall clocks. They may read anything and be set at any time.
 * A host's monotonic clock measures how long ago the database's clock was read, and how long a lease lasts. A drift of
 * up to 500 parts per million has no effect (time synchronisation slews no faster). A larger drift adds up between two
 * readings. If the clock is fast, alarms start early by that much at most (half a percent in two seconds: nine
 * milliseconds). If it is slow, a lease lasts longer; the 200 ms by which every lease ends early cover that, up to one
 * part in 25 of a lease of five seconds.
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 365 * DAY_MS
const RUN_MS = 40_000
const MARGIN_MS = 14_000
const HEARTBEAT_MS = 700

function latest({ startLog }: MinimalScenario): number {
  const firsts = startLog.starts.filter(({ attempt }) => attempt === 1)
  return Math.max(...firsts.map(({ at, scheduledFor }) => at - scheduledFor))
}

describe('a host’s wall clock', () => {
  it.each([HOUR_MS, -HOUR_MS, 30 * DAY_MS, -30 * DAY_MS, 3 * YEAR_MS, -60 * YEAR_MS])(
    'that is set by %i ms, again and again, never loses, repeats, advances or delays an alarm',
    async (ms) => {
      const small = minimalScenario({ each: 6 })
      const { world } = small
      world.network.conditions = {}
      for (let i = 0; i < 60; i++)
        world.in(3_000 + i * 300, () => world.step(world.processes[i % 2]!, i % 4 < 2 ? ms : -ms))
      await world.run(RUN_MS)
      expect(world.faults.of('clockLeap').inFlight).toBeGreaterThan(2)
      expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
      expect(latest(small)).toBeLessThan(50)
      expect(world.trace.text).not.toContain('not trusted')
    },
  )

  it('that is years off from the start has no effect either', async () => {
    for (const offsetMs of [-60 * YEAR_MS, 5 * YEAR_MS, 80 * YEAR_MS]) {
      const small = minimalScenario({ skew: () => ({ offsetMs, drift: 0 }) })
      small.world.network.conditions = {}
      await small.world.run(RUN_MS)
      expect(problemsOf(small, small.world.now - MARGIN_MS)).toEqual([])
      expect(latest(small)).toBeLessThan(50)
    }
  })
})

describe('a monotonic clock', () => {
  it.each([0.0005, -0.0005])('with drift %f is never early', async (drift) => {
    const small = minimalScenario({ each: 4, skew: () => ({ offsetMs: 0, drift }) })
    await small.world.run(RUN_MS)
    expect(problemsOf(small, small.world.now - MARGIN_MS)).toEqual([])
  })

  it.each([0.005, -0.005])(
    'with drift %f is early by at most the drift between two heartbeats',
    async (drift) => {
      const small = minimalScenario({ each: 4, skew: () => ({ offsetMs: 0, drift }) })
      const { world, startLog } = small
      world.network.conditions = {}
      await world.run(RUN_MS)
      const early = startLog.starts.map(({ at, scheduledFor }) => scheduledFor - at)
      expect(Math.max(...early)).toBeLessThanOrEqual(Math.max(0, drift - 0.0005) * (HEARTBEAT_MS + 20) + 1)
      expect(
        problemsOf(small, world.now - MARGIN_MS).filter((wrong) => !wrong.includes('started early')),
      ).toEqual([])
    },
  )
})

describe('a database’s clock that is years off', () => {
  const troubles = ({ world }: MinimalScenario) =>
    world.trace.lines.filter((line) => line.includes('not trusted'))

  it('is ignored by running processes until it is corrected', async () => {
    const small = minimalScenario({ each: 2 })
    const { world } = small
    world.network.conditions = {}
    world.in(6_000, () => world.stepDatabase(2 * YEAR_MS))
    world.in(20_000, () => world.stepDatabase(-2 * YEAR_MS))
    await world.run(RUN_MS)
    expect(troubles(small).length).toBe(2)
    expect(world.trace.text).toContain('the wall clock is trusted again')
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
    expect(latest(small)).toBeLessThan(50)
  })

  it('by more than ten is also ignored by a process that starts then', async () => {
    const small = minimalScenario({ each: 2 })
    const { world } = small
    world.network.conditions = {}
    world.in(6_000, () => world.stepDatabase(11 * YEAR_MS))
    world.in(8_000, () => world.kill(world.processes[0]!))
    world.in(20_000, () => world.stepDatabase(-11 * YEAR_MS))
    await world.run(RUN_MS)
    expect(troubles(small).some((line) => line.includes('ant.2'))).toBe(true)
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
  })
})
