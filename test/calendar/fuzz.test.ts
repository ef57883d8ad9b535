import { expect, it } from 'vitest'
import { fuzz } from './fuzz/run.ts'
import { SUBJECTS } from './fuzz/subjects.ts'

const COUNT = 400
/** Generous, so that timing never fails a test; the script is strict. */
const LIMIT_MS = 2000
const seed = Date.now() % 2 ** 32
console.info(`node test/calendar/fuzz.ts --count ${COUNT} --seed ${seed}`)

it.for(SUBJECTS.map((subject) => [subject.name, subject] as const))(
  'any input to %s is accepted with a valid result or rejected with a readable error',
  ([, subject]) => {
    const { faults, accepted, refused } = fuzz(subject, COUNT, seed, LIMIT_MS)
    expect(faults.join('\n')).toBe('')
    expect(accepted).toBeGreaterThan(10)
    expect(refused).toBeGreaterThan(10)
  },
)
