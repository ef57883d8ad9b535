import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Broken, Entry } from './entries.ts'
import { ask, breaches, record, set, start, T } from './fixtures.ts'

/** A run was cut off for one second, starting one second after T. The log ended at `logEnd`. */
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

describe('a second delivery after a run was cut off', () => {
  const cases: Record<string, [Entry[], Breach[]]> = {
    'is excused': [[began(900), cut(), began(1500, 2, 2)], []],
    'is excused if the first began during the cut': [[began(1500), cut(), began(2500, 2, 2)], []],
    'is excused if all runs were cut off': [[began(900), cut({ run: 0 }), began(1500, 2, 2)], []],
    'is a duplicate if another run was cut off': [
      [began(900), cut({ run: 3 }), began(1500, 2, 2)],
      ['duplicate'],
    ],
    'is a duplicate if it came before the cut': [[began(100), cut(), began(500, 2, 2)], ['duplicate']],
    'is a duplicate if the first came after the cut': [
      [cut(), began(2500), began(2600, 2, 2)],
      ['duplicate'],
    ],
    'is a duplicate if the first was already in the log': [
      [began(900), cut({ logEnd: 10 }), began(1500, 2, 2)],
      ['duplicate'],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [entries, found]) => {
    expect(breaches({ entries: [ask('a'), set('a'), ...entries], log: [record('a')] })).toEqual(found)
  })
})
