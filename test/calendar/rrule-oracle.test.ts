import { expect, it } from 'vitest'
import { Random } from '../chaos/random.ts'
import { compareOne } from './rrule-compare.ts'
import { fuzzOne, randomText } from './rrule-fuzz-texts.ts'

/** The short forms of rrule-oracle.ts and rrule-fuzz.ts; a seed that fails can be given to those. */
const seed = Date.now() % 2 ** 32

it(`300 random RRULEs over 50 years are what the slow way finds, seed ${seed}`, () => {
  for (let index = 0; index < 300; index++) {
    const own = (seed + index) % 2 ** 32
    const { text, mismatch } = compareOne(new Random(own))
    expect(mismatch, `seed ${own}: ${text}`).toBeNull()
  }
})

it(`2,000 random texts are recurrences or refused, seed ${seed}`, () => {
  for (let index = 0; index < 2000; index++) {
    const random = new Random((seed + index) % 2 ** 32)
    // Generous, because the machine may be busy; the script is strict.
    expect(fuzzOne(randomText(random), random).ms).toBeLessThan(1000)
  }
})
