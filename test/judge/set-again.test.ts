import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'
import { ask, breaches, cancelled, cancelling, every, recordAt, set, startAt, T } from './fixtures.ts'

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
/** Deliveries of `a` at these seconds after T, with their records. */
const begun = (...seconds: number[]): Entry[] => seconds.map((second) => startAt(at(second)))
const recorded = (...seconds: number[]) => seconds.map((second) => recordAt(at(second)))

describe('of a recurring alarm that was set again with another definition', () => {
  const first = every('a', 9, { key: 'k', at: at(0) })
  const again = (second: number) => ask('b', { key: 'k', instants: [], at: at(second), recurs: true })
  const both = [first, set('a', 'a', at(0)), again(8), set('b', 'a', at(8.1))]
  /** A delivery of what was due, as the alarm is now. */
  const owed = startAt(at(2), { name: 'b', occurrenceId: `a-2-${at(2)}` })
  const owedRecord = recordAt(at(2), 'alarm.fired', { occurrenceId: `a-2-${at(2)}` })
  const skipped = recordAt(at(1), 'alarm.skipped', { reason: 'misfire', skippedTo: at(2) })
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'what was due is owed': [{ entries: both }, ['lost']],
    'what was due may be delivered as the alarm is now': [
      { entries: [...both, ...begun(1, 3), owed], log: [...recorded(1, 3), owedRecord] },
      [],
    ],
    'what was due may be skipped with a record': [
      { entries: [...both, ...begun(3)], log: [...recorded(3), skipped] },
      [],
    ],
    'one without a record is lost': [{ entries: [...both, ...begun(1, 3)], log: recorded(1, 3) }, ['lost']],
    'nothing is owed after a cancel': [
      {
        entries: [first, set('a', 'a', at(0)), cancelling('a', at(8)), cancelled('a', 'cancelled', at(8.1))],
      },
      [],
    ],
    'what was not due then is not delivered': [
      {
        entries: [...both, ...begun(1, 2, 3), startAt(at(9), { name: 'b', occurrenceId: `a-2-${at(9)}` })],
        log: [...recorded(1, 2, 3), recordAt(at(9), 'alarm.fired', { occurrenceId: `a-2-${at(9)}` })],
      },
      ['lost', 'off_calendar'],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches({ clockLagMs: 5 * SECOND, ...parts })).toEqual(found)
  })
})
