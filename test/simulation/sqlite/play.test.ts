import { describe, expect, it } from 'vitest'
import { planOf } from '../plan.ts'
import { playOnFile } from './play-on-file.ts'

const SEEDS = Array.from({ length: 12 }, (_, i) => i)

describe('a plan of the simulator on one real SQLite file', () => {
  it('gives the same trace twice', async () => {
    const [one, again] = [await playOnFile(planOf(3)), await playOnFile(planOf(3))]
    expect(again.world.trace.hash).toBe(one.world.trace.hash)
  })

  it.each(SEEDS)('breaks no promise: seed %i', async (seed) => {
    const { judgement } = await playOnFile(planOf(seed))
    expect(judgement.violations).toEqual([])
  })
})
