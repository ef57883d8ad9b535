import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import { ask, breaches, record, set, start, T } from './by-hand.ts'
import type { Broken, Entry } from './entries.ts'

/** A run was cut off for a second, from one second after T on; the log ended at this place. */
const cut = (more: Partial<Broken> = {}): Broken => ({
  type: 'broken',
  run: 1,
  what: 'cut',
  at: T + 1000,
  lastsMs: 1000,
  logEnd: 0,
  inFlight: 1,
  ...more,
})
const began = (at: number, run = 1, attempt = 1): Entry => start('a', { at: T + at, run, attempt })

describe('a second delivery, after the first run was cut off', () => {
  const cases: Record<string, [Entry[], Breach[]]> = {
    'is excused': [[began(900), cut(), began(1500, 2, 2)], []],
    'is excused where the first began while it was cut off': [[began(1500), cut(), began(2500, 2, 2)], []],
    'is excused where everyone was cut off': [[began(900), cut({ run: 0 }), began(1500, 2, 2)], []],
    'is not where another was cut off': [[began(900), cut({ run: 3 }), began(1500, 2, 2)], ['duplicate']],
    'is not where it came before': [[began(100), cut(), began(500, 2, 2)], ['duplicate']],
    'is not where the first came after': [[cut(), began(2500), began(2600, 2, 2)], ['duplicate']],
    'is not where the first was in the log by then': [
      [began(900), cut({ logEnd: 10 }), began(1500, 2, 2)],
      ['duplicate'],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [entries, found]) => {
    expect(breaches({ entries: [ask('a'), set('a'), ...entries], log: [record('a')] })).toEqual(found)
  })
})
