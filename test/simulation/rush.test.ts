import { describe, expect, it } from 'vitest'
import { wrongEndings } from './endings.ts'
import { FAULT_WEIGHTS } from './planned-faults.ts'
import { rush } from './rush.ts'

/** Occurrences due just before the end may still be retried. */
const MARGIN_MS = 45_000

describe('ten busy minutes with a fault every few seconds', () => {
  it.each([1, 2, 3])('end every occurrence once, never early, by its lease holder: seed %i', async (seed) => {
    const { world, startLog } = await rush(seed)
    expect(startLog.starts.length).toBeGreaterThan(2_000)
    expect(wrongEndings(world, world.now - MARGIN_MS)).toEqual([])
    expect(startLog.early).toEqual([])
    expect(startLog.unfenced).toEqual([])
  })

  it('end none twice and start none early although the database’s clock is stepped repeatedly: seed 48', async () => {
    const { world, startLog } = await rush(48, {
      ...FAULT_WEIGHTS,
      databaseStep: 2,
      clockLeap: 1,
      join: 3,
      leave: 1,
    })
    expect(world.faults.of('databaseStep').inFlight).toBeGreaterThan(1)
    // Occurrences that wait by a clock that was set back have not ended yet.
    const isOpen = (wrong: string) => wrong.endsWith('ended 0, skipped 0')
    expect(wrongEndings(world, world.databaseNow).filter((wrong) => !isOpen(wrong))).toEqual([])
    expect(startLog.early).toEqual([])
  })
})
