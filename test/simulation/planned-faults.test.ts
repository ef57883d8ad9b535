import { describe, expect, it } from 'vitest'
import { Random } from '../random.ts'
import { minimalScenario, problemsOf } from './minimal-scenario.ts'
import { planOf } from './plan.ts'
import {
  drawFault,
  FAULT_WEIGHTS,
  type PlannedFault,
  type PlannedFaultName,
  pastLeaseMs,
  scheduleFaults,
} from './planned-faults.ts'

const MS_MAX = 5_000

function drawn(seed: number, count: number): PlannedFault[] {
  const random = new Random(seed)
  return [...Array(count).keys()].map((i) => drawFault(random, FAULT_WEIGHTS, MS_MAX, 2_000 + i * 600))
}

describe('planned faults', () => {
  it('are plain data, the same for the same seed', () => {
    const faults = drawn(1, 50)
    expect(JSON.parse(JSON.stringify(faults))).toEqual(faults)
    expect(drawn(1, 50)).toEqual(faults)
    expect(drawn(2, 50)).not.toEqual(faults)
  })

  it('let no lease race of a plan pause its process beyond the calm', () => {
    const plans = [...Array(300).keys()].map((seed) => planOf(seed))
    const ends = plans.flatMap(({ faults, leaseMs, calmMs }) =>
      faults
        .filter(({ fault }) => fault === 'leaseRace')
        .map((planned) => planned.at + leaseMs + pastLeaseMs(planned) - calmMs),
    )
    expect(ends.length).toBeGreaterThan(100)
    expect(Math.max(...ends)).toBeLessThan(0)
  })

  it('contain only the requested faults', () => {
    const random = new Random(1)
    const only: PlannedFaultName[] = ['kill', 'pause']
    const weights = { kill: 1, pause: 3, killAtStatement: 0 }
    const faults = [...Array(200).keys()].map(() => drawFault(random, weights, MS_MAX).fault)
    expect(new Set(faults)).toEqual(new Set(only))
    expect(faults.filter((fault) => fault === 'pause').length).toBeGreaterThan(120)
  })

  it('are all injected and counted, give the same trace twice, and another if one is left out', async () => {
    const replay = async (faults: readonly PlannedFault[]) => {
      const small = minimalScenario({ each: 3, trace: 'hash' })
      scheduleFaults(small.world, faults)
      await small.world.run(60_000)
      expect(problemsOf(small, small.world.now - 20_000)).toEqual([])
      return small.world
    }
    const faults = drawn(3, 40)
    const world = await replay(faults)
    for (const fault of Object.keys(FAULT_WEIGHTS) as PlannedFaultName[])
      expect(world.faults.of(fault).count).toBe(faults.filter((planned) => planned.fault === fault).length)
    expect((await replay(faults)).trace.hash).toBe(world.trace.hash)
    expect((await replay(faults.slice(1))).trace.hash).not.toBe(world.trace.hash)
  })
})
