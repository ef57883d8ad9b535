import { describe, expect, it } from 'vitest'
import { type SweptFault, sweep, sweepPlan } from './sweep.ts'

/** How many worlds are swept at all their points, a minute each. By default, some points of one world. */
const SEEDS = Number(process.env.WAKEFUL_SWEEP ?? 0)
const FAULTS: readonly (readonly [fault: SweptFault, every: number])[] = [
  ['kill', 3],
  ['close', 23],
  ['pause', 23],
  ['partition', 23],
  ['hang', 23],
  ['outage', 23],
  ['diskFull', 23],
  ['clockStep', 23],
]
const TIMEOUT_MS = 600_000

describe.each([...Array(Math.max(1, SEEDS)).keys()].map((i) => i + 1))('seed %i', (seed) => {
  it.each(FAULTS)(
    '%s may hit a process at any point where it waits',
    async (fault, some) => {
      const every = SEEDS === 0 ? some : 1
      const { places, runs, inFlight, wrong } = await sweep({ seed, fault, every })
      expect(wrong).toEqual([])
      expect(runs).toBe(Math.ceil(places / every))
      expect(places).toBeGreaterThan(500)
      expect(inFlight).toBeGreaterThan(runs / 10)
    },
    TIMEOUT_MS,
  )

  it(
    'a kill may hit it while users reschedule, pause and cancel their alarms',
    async () => {
      const { places, runs, inFlight, wrong } = await sweepPlan({ seed, every: SEEDS === 0 ? 17 : 1 })
      expect(wrong).toEqual([])
      expect(places).toBeGreaterThan(500)
      expect(inFlight).toBeGreaterThan(runs / 50)
    },
    TIMEOUT_MS,
  )
})
