import { expect, it } from 'vitest'
import { sweep } from './sweep.ts'

/** All places of a world take some three seconds; `WAKEFUL_SWEEP=20 vitest run test/simulation/sweep.test.ts` sweeps 20 worlds. */
const SEEDS = Number(process.env.WAKEFUL_SWEEP ?? 1)

it.each([...Array(SEEDS).keys()].map((i) => i + 1))(
  'a process may be killed at every single place where it waits for something: seed %i',
  async (seed) => {
    const { places, runs, inFlight, wrong } = await sweep({ seed })
    expect(wrong).toEqual([])
    expect(runs).toBe(places)
    expect(places).toBeGreaterThan(400)
    expect(inFlight).toBeGreaterThan(50)
  },
)

it('can be taken in larger steps', async () => {
  const { places, runs } = await sweep({ seed: 2, every: 25 })
  expect(runs).toBe(Math.ceil(places / 25))
})
