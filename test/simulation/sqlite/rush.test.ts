import { describe, expect, it } from 'vitest'
import { rushOnFile } from './rush.ts'

const SEEDS = Array.from({ length: 10 }, (_, i) => i + 1)

describe('five minutes on one real SQLite file, in which something befalls its processes every few seconds', () => {
  it('tell the same story twice, and another one by another seed', async () => {
    const [one, again, other] = [await rushOnFile(1), await rushOnFile(1), await rushOnFile(2)]
    expect(one.starts).toBeGreaterThan(500)
    expect(again.trace === one.trace).toBe(true)
    expect(other.trace === one.trace).toBe(false)
  })

  it.each(SEEDS)(
    'end every occurrence once, never early, by its owner, effects and all: seed %i',
    async (seed) => {
      expect((await rushOnFile(seed)).wrong).toEqual([])
    },
  )
})
