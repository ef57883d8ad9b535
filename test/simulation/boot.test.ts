import { describe, expect, it } from 'vitest'
import { hunt } from '../chaos/hunt.ts'
import { campaign } from './campaign.ts'
import { BOOT_BUGS } from './planted/boot.ts'
import { SIMULATION_PLANTED } from './planted.ts'
import { Sum } from './sum.ts'

/** The short form of `npm run sim -- --boot`, which runs a thousand. */
const SEEDS = 60
const MINUTES_MAX = 10

describe('programs that declare their alarms at every start', () => {
  it(
    'lose no tick and undo no pause, over deploys, downtimes, pauses and changes',
    async () => {
      const sum = new Sum()
      await campaign({ isBoot: true, from: 0, count: SEEDS, onResult: (result) => sum.add(result) })
      expect(sum.failures.map(({ seed, violations }) => ({ seed, first: violations[0] }))).toEqual([])
      expect(sum.seeds).toBe(SEEDS)
    },
    MINUTES_MAX * 60_000,
  )

  it(
    'show at once what a set by key used to do',
    async () => {
      const [old] = SIMULATION_PLANTED.filter(({ bug }) => bug === BOOT_BUGS[0]!.bug)
      const [finding] = await hunt([old!])
      expect(finding).toMatchObject({ isCaught: true, promises: expect.arrayContaining(['at-least-once']) })
    },
    MINUTES_MAX * 60_000,
  )
})
