import { describe, expect, it } from 'vitest'
import { rushOnFile } from './rush.ts'

/** A few seeds, or as many as requested. */
const SEEDS = Array.from({ length: Number(process.env.RUSH_SEEDS ?? 4) }, (_, i) => i + 2)

describe('five busy minutes on one real SQLite file, with a fault every few seconds', () => {
  it('give the same trace twice', async () => {
    const [one, again] = [await rushOnFile(1), await rushOnFile(1)]
    expect(one.starts).toBeGreaterThan(500)
    expect(again.trace === one.trace).toBe(true)
  })

  it.each(SEEDS)('break no promise: seed %i', async (seed) => {
    expect((await rushOnFile(seed)).wrong).toEqual([])
  })
})
