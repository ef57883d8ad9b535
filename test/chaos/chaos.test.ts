import { expect, test } from 'vitest'
import { campaign } from './campaign.ts'

/** The long form is `npm run test:chaos`. */
const KILLS = 15

test('keeps every promise when processes that set and fire are killed (durable, at-least-once, recorded-once, cancel-wins, never-early)', {
  timeout: 90_000,
}, async () => {
  const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000)
  const { violations, damage, figures } = await campaign({ kills: KILLS, seed })
  const replay = `node test/chaos/run.ts --kills ${KILLS} --seed ${seed}`
  console.log(`${replay}: ${JSON.stringify(figures)}`)
  expect({ replay, violations, damage }).toEqual({ replay, violations: [], damage: [] })
  expect(figures.kills).toBe(KILLS)
  expect(figures.killsInFlight).toBeGreaterThanOrEqual(KILLS / 2)
})
