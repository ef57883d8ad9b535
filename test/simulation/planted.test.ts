import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hunt } from '../chaos/hunt.ts'
import { PLANTED } from '../interleave/planted.ts'
import { MASKED } from './planted/masked.ts'
import { SIMULATION_PLANTED } from './planted.ts'

const root = new URL('../../', import.meta.url)
const MINUTES_MAX = 5

/** One for each promise, of those found in the first few worlds. */
const SOON = [
  'a set is answered although its statement failed',
  'a recurring alarm ends after a failed attempt',
  'a failed attempt is recorded as the end',
  'a process starts deliveries after its lease has ended',
  'a cancelled alarm is retried',
  'the clock is 30 ms ahead',
  'the message is trimmed',
  'the owners of a tenant are not separated',
  'the slots are not counted',
  'a rule has one occurrence more than its count',
  'the loop sleeps past the next wake',
]

/** The whole hunt takes minutes (`npm run test:planted -- --store simulation`). */
describe('a bug planted for the simulation', () => {
  it.each([...SIMULATION_PLANTED, ...MASKED])('still matches the sources: $bug', ({ edits }) => {
    for (const { file, from } of edits) expect(readFileSync(new URL(file, root), 'utf8')).toContain(from)
  })

  it('that an interleaving must find is planted there', () => {
    const named = MASKED.flatMap(({ by }) => by?.match(/^interleavings: (.*)$/)?.[1] ?? [])
    const known = new Set(PLANTED.map(({ bug }) => bug))
    expect(named.filter((bug) => !known.has(bug))).toEqual([])
  })

  it('that a test must find names a file that exists', () => {
    const files = MASKED.flatMap(({ by }) => (by === null || by.startsWith('interleavings: ') ? [] : [by]))
    expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([])
  })

  it(
    'is caught, one for each promise',
    async () => {
      const chosen = SIMULATION_PLANTED.filter(({ bug }) => SOON.includes(bug))
      expect(chosen).toHaveLength(SOON.length)
      const findings = await hunt(chosen, { parallel: 2 })
      expect(findings.filter(({ isCaught }) => !isCaught)).toEqual([])
      const kept = new Set(findings.flatMap(({ promises }) => promises))
      const promises = [
        'durable',
        'at-least-once',
        'recorded-once',
        'fenced',
        'cancel-wins',
        'never-early',
      ] as const
      expect(
        [...promises, 'verbatim', 'isolated', 'bounded', 'calendar-true', 'liveness'].filter(
          (each) => !kept.has(each),
        ),
      ).toEqual([])
    },
    MINUTES_MAX * 60_000,
  )
})
