import { describe, expect, it } from 'vitest'
import type { Conditions } from './conditions.ts'
import { minimalScenario } from './minimal-scenario.ts'

const HEARTBEAT_MS = 700

/** The lateness of alarms that one process sets and the other fires. */
async function latenesses(conditions: Conditions) {
  const { world, startLog } = minimalScenario({ each: 0, seed: 2 })
  await world.run(3_000)
  world.network.conditions = conditions
  const [ant] = world.processes
  for (let i = 0; i < 40; i++)
    world.in(i * 50, () => void ant!.wakeful.set({ delay: '100ms' }, { target: 'work' }))
  await world.run(10_000)
  expect(startLog.starts).toHaveLength(40)
  expect([startLog.early, startLog.unfenced]).toEqual([[], []])
  const byOther = startLog.starts.filter(({ process }) => process === 'bee.1')
  return { world, latest: Math.max(...byOther.map(({ at, scheduledFor }) => at - scheduledFor)) }
}

describe('notices of alarms that another process set', () => {
  it('let them fire on time', async () => {
    expect((await latenesses({})).latest).toBeLessThan(10)
  })

  it('may all be lost: the next heartbeat finds the alarms', async () => {
    const { world, latest } = await latenesses({ noticeLost: 1 })
    expect(world.faults.of('noticeLost').inFlight).toBeGreaterThan(10)
    expect(latest).toBeGreaterThan(100)
    expect(latest).toBeLessThan(HEARTBEAT_MS + 20)
  })

  it('may be late and out of order', async () => {
    const { world, latest } = await latenesses({ noticeLate: 1 })
    expect(world.faults.of('noticeLate').inFlight).toBeGreaterThan(10)
    expect(latest).toBeLessThan(HEARTBEAT_MS + 20)
  })

  it('may be duplicated: nothing is delivered twice', async () => {
    const { world, latest } = await latenesses({ noticeDuplicated: 1 })
    expect(world.faults.of('noticeDuplicated').inFlight).toBeGreaterThan(10)
    expect(latest).toBeLessThan(10)
  })
})
