import { describe, expect, it } from 'vitest'
import { wrongEndings } from './endings.ts'
import { rush } from './rush.ts'

/** What came due just before the end may still be tried again. */
const MARGIN_MS = 45_000

describe('ten minutes in which much is due and something befalls a process every few seconds', () => {
  it.each([1, 2, 3])('end every occurrence once, never early, by its owner: seed %i', async (seed) => {
    const { world, ledger } = await rush(seed)
    expect(ledger.starts.length).toBeGreaterThan(2_000)
    expect(wrongEndings(world, world.now - MARGIN_MS)).toEqual([])
    expect(ledger.early).toEqual([])
    expect(ledger.unfenced).toEqual([])
  })
})
