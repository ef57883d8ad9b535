import { describe, expect, it } from 'vitest'
import { campaign } from './campaign.ts'
import { resultOf } from './result.ts'
import { Sum } from './sum.ts'

/** The short form of `npm run sim`: about a minute on two cores. `npm run sim -- --seed N` describes a failing seed. */
const SEEDS = 600
const MINUTES_MAX = 20

describe('simulated worlds', () => {
  it(
    `keep every promise, seeds 0 to ${SEEDS - 1}, and every fault hits something in flight`,
    async () => {
      const sum = new Sum()
      await campaign({ from: 0, count: SEEDS, onResult: (result) => sum.add(result) })
      const failing = sum.failures.map(({ seed, violations }) => ({ seed, first: violations[0] }))
      expect(failing).toEqual([])
      expect(sum.missed).toEqual([])
      expect(sum.seeds).toBe(SEEDS)
    },
    MINUTES_MAX * 60_000,
  )

  it.each([3, 99])('give the same trace twice: seed %i', async (seed) => {
    const [first, second] = [await resultOf('simulated', seed), await resultOf('simulated', seed)]
    expect(second).toEqual(first)
  })
})
