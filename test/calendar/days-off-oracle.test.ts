import { expect, it } from 'vitest'
import { Random } from '../random.ts'
import { compareDaysOff } from './days-off-oracle.ts'

/** The short form of days-off-oracle.ts; a seed that fails can be given to it. */
const seed = Date.now() % 2 ** 32

it(`random rules with random days off stand where the slow way says, seed ${seed}`, () => {
  const until = performance.now() + 4000
  let [cases, standings] = [0, 0]
  for (; cases < 2500 && performance.now() < until; cases++) {
    const own = (seed + cases) % 2 ** 32
    const result = compareDaysOff(new Random(own), 20)
    standings += result.standings
    expect(result.mismatch, `seed ${own}`).toBeNull()
  }
  console.info(`${cases} cases, ${standings} standings`)
  expect(standings).toBeGreaterThan(1000)
})
