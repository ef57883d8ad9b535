import { describe, expect, it } from 'vitest'
import { rushOnFile } from './rush.ts'

describe('five minutes on one real SQLite file, in which something befalls its processes every few seconds', () => {
  it('tell the same story twice', async () => {
    const [one, again] = [await rushOnFile(1), await rushOnFile(1)]
    expect(one.starts).toBeGreaterThan(500)
    expect(again.trace === one.trace).toBe(true)
  })

  // Many more seeds: npm run sim:sqlite.
  it.each([2, 3, 4, 5])('break no promise: seed %i', async (seed) => {
    expect((await rushOnFile(seed)).wrong).toEqual([])
  })
})
