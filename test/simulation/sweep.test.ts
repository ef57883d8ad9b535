import { expect, it } from 'vitest'
import { sweep } from './sweep.ts'

/** So many worlds are swept, each at all its places, some three seconds each; without, every third place of one. */
const SEEDS = Number(process.env.WAKEFUL_SWEEP ?? 0)
const EVERY = SEEDS === 0 ? 3 : 1

it.each([...Array(Math.max(1, SEEDS)).keys()].map((i) => i + 1))(
  'a process may be killed at any place where it waits for something: seed %i',
  async (seed) => {
    const { places, runs, inFlight, wrong } = await sweep({ seed, every: EVERY })
    expect(wrong).toEqual([])
    expect(runs).toBe(Math.ceil(places / EVERY))
    expect(places).toBeGreaterThan(400)
    expect(inFlight).toBeGreaterThan(runs / 10)
  },
)
