import { expect, it } from 'vitest'
import { Random } from '../random.ts'
import { compareDaysOff } from './days-off-oracle.ts'

/** The short form of days-off-oracle.ts, which can repeat a failing seed. */
const seed = Date.now() % 2 ** 32

it(`random rules with random days off agree with brute force, seed ${seed}`, () => {
  const until = performance.now() + 4000
  let [cases, occurrences] = [0, 0]
  for (; cases < 2500 && performance.now() < until; cases++) {
    const own = (seed + cases) % 2 ** 32
    const result = compareDaysOff(new Random(own), 20)
    occurrences += result.occurrences
    expect(result.mismatch, `seed ${own}`).toBeNull()
  }
  console.info(`${cases} cases, ${occurrences} occurrences`)
  expect(occurrences).toBeGreaterThan(1000)
})
