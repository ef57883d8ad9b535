import { expect, it } from 'vitest'
import { fuzzPhrases } from './phrase-fuzz.ts'

it('fuzzed phrases are understood, refused or read as one instant, and never slowly', () => {
  const seed = Date.now() % 1_000_000
  console.info(`node test/calendar/phrase-fuzz.ts --count 3000 --seed ${seed}`)
  const found = fuzzPhrases(3000, seed)
  expect(found.slowestMs, found.slowest).toBeLessThan(50)
  expect(found.understood).toBeGreaterThan(100)
})
