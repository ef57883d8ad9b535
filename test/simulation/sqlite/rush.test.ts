import { describe, expect, it } from 'vitest'
import { rushOnFile } from './rush.ts'

/** A few, or as many as are asked for. */
const SEEDS = Array.from({ length: Number(process.env.RUSH_SEEDS ?? 4) }, (_, i) => i + 2)

describe('five minutes on one real SQLite file, in which something befalls its processes every few seconds', () => {
  it('tell the same story twice', async () => {
    const [one, again] = [await rushOnFile(1), await rushOnFile(1)]
    expect(one.starts).toBeGreaterThan(500)
    expect(again.trace === one.trace).toBe(true)
  })

  it.each(SEEDS)('break no promise: seed %i', async (seed) => {
    expect((await rushOnFile(seed)).wrong).toEqual([])
  })
})
