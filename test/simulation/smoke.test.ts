import { describe, expect, it } from 'vitest'
import { wrongEndings } from './endings.ts'
import { smoke, storm } from './smoke.ts'

/** What comes due in the last minutes of the day may still be retried. */
const MARGIN_MS = 5 * 60_000

describe('a virtual day of three processes', () => {
  it('delivers everything, never early, though one is killed, and tells the same story twice', async () => {
    const { world, ids, ledger } = await smoke(1)
    expect(ids).toHaveLength(200)
    expect(world.trace.text).toContain('kill')
    expect(wrongEndings(world, world.now - MARGIN_MS)).toEqual([])
    expect(ledger.early).toEqual([])
    expect(ledger.unfenced).toEqual([])
    const again = await smoke(1)
    expect(again.world.trace.text === world.trace.text).toBe(true)
  })

  it('tells another story by another seed', async () => {
    const [one, two] = [await smoke(2), await smoke(3)]
    expect(one.world.trace.text === two.world.trace.text).toBe(false)
  })

  it('ends every occurrence once, though links break, processes are killed, paused and cut off', async () => {
    const { world, ledger } = await storm(1)
    expect(wrongEndings(world, world.now - MARGIN_MS)).toEqual([])
    expect(ledger.early).toEqual([])
    expect(ledger.unfenced).toEqual([])
    const again = await storm(1)
    expect(again.world.trace.text === world.trace.text).toBe(true)
  })
})
