import { describe, expect, it } from 'vitest'
import { Random } from '../random.ts'
import { hamlet, wrongsOf } from './minimal-scenario.ts'
import { arrange, draw, STRIKES, type Strike, type StrikeFault } from './planned-faults.ts'

const MS_MAX = 5_000

function drawn(seed: number, count: number): Strike[] {
  const random = new Random(seed)
  return [...Array(count).keys()].map((i) => draw(random, STRIKES, MS_MAX, 2_000 + i * 600))
}

describe('strikes', () => {
  it('are plain data, the same by the same seed', () => {
    const strikes = drawn(1, 50)
    expect(JSON.parse(JSON.stringify(strikes))).toEqual(strikes)
    expect(drawn(1, 50)).toEqual(strikes)
    expect(drawn(2, 50)).not.toEqual(strikes)
  })

  it('are of those faults alone that are asked for', () => {
    const random = new Random(1)
    const only: StrikeFault[] = ['kill', 'pause']
    const weights = { kill: 1, pause: 3, ambush: 0 }
    const faults = [...Array(200).keys()].map(() => draw(random, weights, MS_MAX).fault)
    expect(new Set(faults)).toEqual(new Set(only))
    expect(faults.filter((fault) => fault === 'pause').length).toBeGreaterThan(120)
  })

  it('are all tried and counted, tell the same story twice, and another where one is left out', async () => {
    const tell = async (strikes: readonly Strike[]) => {
      const small = hamlet({ each: 3, trace: 'hash' })
      arrange(small.world, strikes)
      await small.world.run(60_000)
      expect(wrongsOf(small, small.world.now - 20_000)).toEqual([])
      return small.world
    }
    const strikes = drawn(3, 40)
    const world = await tell(strikes)
    for (const fault of Object.keys(STRIKES) as StrikeFault[])
      expect(world.faults.of(fault).count).toBe(strikes.filter((strike) => strike.fault === fault).length)
    expect((await tell(strikes)).trace.hash).toBe(world.trace.hash)
    expect((await tell(strikes.slice(1))).trace.hash).not.toBe(world.trace.hash)
  })
})
