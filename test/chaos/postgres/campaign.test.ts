import { expect, test } from 'vitest'
import { postgresCampaign } from './campaign.ts'

/** The long form is `npm run test:chaos -- --store postgres`. */
const FAULTS = { kills: 3, restarts: 1, cuts: 1, halfOpens: 2, pauses: 1 }

test('keeps every promise under kills, pauses, server restarts, broken connections and a wrong clock (durable, at-least-once, recorded-once, fenced, cancel-wins, never-early)', {
  timeout: 300_000,
}, async () => {
  const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000)
  const { violations, damage, figures } = await postgresCampaign({
    ...FAULTS,
    alarms: 300,
    seed,
    shiftsClock: true,
  })
  const options = `--kills 3 --restarts 1 --cuts 1 --half-opens 2 --pauses 1 --alarms 300 --seed ${seed}`
  const replay = `node test/chaos/run.ts --store postgres ${options}`
  console.log(`${replay}: ${JSON.stringify(figures)}`)
  expect({ replay, violations, damage }).toEqual({ replay, violations: [], damage: [] })
  expect(figures).toMatchObject(FAULTS)
  const hits =
    figures.killsInFlight + figures.restartsInFlight + figures.cutsInFlight + figures.halfOpensInFlight
  expect(hits).toBeGreaterThanOrEqual(3)
})
