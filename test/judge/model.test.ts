import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import {
  ask,
  breaches,
  cancelled,
  cancelling,
  every,
  killed,
  parked,
  parking,
  record,
  recordAt,
  set,
  start,
  startAt,
  T,
  unparked,
  unparking,
} from './by-hand.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
/** What happens to `a` at these seconds after T: a delivery, with its record. */
const begun = (...seconds: number[]): Entry[] => seconds.map((second) => startAt(at(second)))
const recorded = (...seconds: number[]) => seconds.map((second) => recordAt(at(second)))
const refused = (name: string): Entry => ({ type: 'refused', run: 1, name, at: T })
const calm = (seconds: number): Entry => ({ type: 'calm', at: at(seconds) })
/** A move of `a` to other instants, sent at this second. */
const move = (name: string, instants: number[], second: number, recurs = false) =>
  ask(name, { alarmId: 'a', instants: instants.map(at), at: at(second), recurs })

describe('of an alarm that recurs', () => {
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'all instants after its answer are owed': [
      { entries: [every('a', 4), set('a', 'a', at(1.5)), ...begun(2, 3)], log: recorded(2, 3) },
      ['lost'],
    ],
    'no instant before its answer is': [
      { entries: [every('a', 4), set('a', 'a', at(1.5)), ...begun(2, 3, 4)], log: recorded(2, 3, 4) },
      [],
    ],
    'one between two others is owed even if it was never answered': [
      { entries: [every('a', 9), killed(1), ...begun(2, 4)], log: recorded(2, 4) },
      ['lost'],
    ],
    'nothing else is, if it was never answered': [
      { entries: [every('a', 9), killed(1), ...begun(2, 3)], log: recorded(2, 3) },
      [],
    ],
    'what comes after the end is not owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2)], log: recorded(1, 2), until: at(10) },
      [],
    ],
    'what had no time to begin is not owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2)], log: recorded(1, 2), until: at(12) },
      [],
    ],
    'what had time to begin is owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2)], log: recorded(1, 2), until: at(14) },
      ['lost'],
    ],
    'what had no time to begin since the calm is not owed': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2), killed(1), calm(8)],
        log: recorded(1, 2),
        until: at(14),
      },
      [],
    ],
    'what had time to begin since the calm is owed': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2), killed(1), calm(3)],
        log: recorded(1, 2),
        until: at(14),
      },
      ['lost'],
    ],
    'what comes after one that was just caught up with is not owed yet': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1), startAt(at(2), { at: at(13) })],
        log: [recordAt(at(1)), recordAt(at(2), 'alarm.fired', { at: at(13.1) })],
        until: at(14),
      },
      [],
    ],
    'one before another is owed whatever time there was, and not excused by a cancel that nobody sent': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 3)],
        log: [...recorded(1, 3), recordAt(at(2), 'alarm.skipped', { reason: 'cancelled' })],
        until: at(4),
      },
      ['lost'],
    ],
    'what waits because all hands are full is not owed': [
      {
        entries: [ask('a'), set('a'), ask('b'), set('b'), start('b', { underWay: 3 })],
        log: [record('b')],
        until: at(20),
        concurrency: 3,
      },
      [],
    ],
    'what waits although hands are free is owed': [
      {
        entries: [ask('a'), set('a'), ask('b'), set('b'), start('b', { underWay: 2 })],
        log: [record('b')],
        until: at(20),
        concurrency: 3,
      },
      ['lost'],
    ],
    'nothing is owed at the end where the faults never ended': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2), killed(1)],
        log: recorded(1, 2),
        until: at(60),
      },
      [],
    ],
    'what waits behind a delivery that goes on is not owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1)], until: at(14), endsMs: 60 * SECOND },
      [],
    ],
    'what was pruned may have been skipped': [
      {
        entries: [every('a', 4), set('a', 'a', at(0)), ...begun(3, 4)],
        log: recorded(3, 4),
        prunedBefore: at(3),
      },
      [],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches(parts)).toEqual(found)
  })
})

describe('of an alarm that was moved', () => {
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'its new instant is owed': [
      {
        entries: [ask('a', { at: at(-9) }), set('a', 'a', at(-9)), move('b', [5], -5), set('b', 'a', at(-5))],
      },
      ['lost'],
    ],
    'its old one is not, and what was set keeps its name': [
      {
        entries: [
          ask('a', { at: at(-9) }),
          set('a', 'a', at(-9)),
          move('b', [5], -5),
          set('b', 'a', at(-5)),
          ...begun(5),
        ],
        log: recorded(5),
      },
      [],
    ],
    'one of both is owed where the move was never answered': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), killed(1)] },
      ['lost'],
    ],
    'the old one is enough then': [
      {
        entries: [ask('a'), set('a'), move('b', [5], -5), killed(1), start('a', { run: 2 })],
        log: [record('a')],
      },
      [],
    ],
    'and so is the new one': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), killed(1), ...begun(5)], log: recorded(5) },
      [],
    ],
    'a rule that was never answered owes nothing before it can have been written': [
      {
        entries: [
          every('a', 3),
          set('a', 'a', at(0)),
          ...begun(1),
          move('b', [2.5, 12.5, 22.5], 1.2, true),
          killed(1),
          calm(1.3),
          ...begun(12.5, 22.5),
        ],
        log: recorded(1, 12.5, 22.5),
      },
      [],
    ],
    'it owes what comes after that': [
      {
        entries: [
          every('a', 3),
          set('a', 'a', at(0)),
          ...begun(1),
          move('b', [2.5, 12.5, 22.5], 1.2, true),
          killed(1),
          calm(1.3),
          ...begun(12.5),
        ],
        log: recorded(1, 12.5),
      },
      ['lost'],
    ],
    'the old one is owed where the move was refused': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), refused('b')] },
      ['lost'],
    ],
    'the old one is not owed where it was due just before the move': [
      {
        entries: [
          every('a', 9),
          set('a', 'a', at(0)),
          ...begun(1),
          move('b', [7], 2.5),
          set('b', 'a', at(3)),
          ...begun(7),
        ],
        log: recorded(1, 7),
      },
      [],
    ],
    'an old one is owed that lies before one that was dealt with': [
      {
        entries: [
          every('a', 9),
          set('a', 'a', at(0)),
          ...begun(1, 3),
          move('b', [12], 3.5),
          set('b', 'a', at(4)),
          ...begun(12),
        ],
        log: recorded(1, 3, 12),
      },
      ['lost'],
    ],
    'it may be in the log as moved': [
      {
        entries: [
          every('a', 9),
          set('a', 'a', at(0)),
          ...begun(1, 3),
          move('b', [12], 3.5),
          set('b', 'a', at(4)),
          ...begun(12),
        ],
        log: [...recorded(1, 3, 12), recordAt(at(2), 'alarm.skipped', { reason: 'rescheduled' })],
      },
      [],
    ],
    'one of the rule it was moved to is owed': [
      {
        entries: [ask('a'), set('a'), move('b', [1, 2, 3], -5, true), set('b', 'a', at(-4)), ...begun(1, 2)],
        log: recorded(1, 2),
      },
      ['lost'],
    ],
    'a cancel that found it ended excuses nothing': [
      {
        entries: [
          ask('a'),
          set('a'),
          move('b', [5], -5),
          set('b', 'a'),
          cancelling('a'),
          cancelled('a', 'ended'),
        ],
      },
      ['lost'],
    ],
    'a cancel that was never answered excuses all': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), set('b', 'a'), cancelling('a'), killed(1)] },
      [],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches(parts)).toEqual(found)
  })
})

describe('of an alarm that its user paused', () => {
  const begin: Entry[] = [every('a', 6), set('a', 'a', at(0)), ...begun(1)]
  const pause = [parking('a', at(1.5)), parked('a', at(1.6))]
  const resume = [unparking('a', at(3.5)), unparked('a', at(3.6))]
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'nothing is owed': [{ entries: [...begin, ...pause], log: recorded(1) }, []],
    'nothing is owed where the pause was never answered': [
      { entries: [...begin, parking('a', at(1.5)), killed(1)], log: recorded(1) },
      [],
    ],
    'all is owed where the pause was refused': [
      {
        entries: [
          ...begin,
          parking('a', at(1.5)),
          { type: 'parked', run: 1, alarmId: 'a', outcome: 'refused', at: at(1.6) },
        ],
        log: recorded(1),
      },
      ['lost', 'refused'],
    ],
    'what comes after the resume is owed': [
      { entries: [...begin, ...pause, ...resume, ...begun(4, 5)], log: recorded(1, 4, 5) },
      ['lost'],
    ],
    'what fell into the pause is not owed': [
      { entries: [...begin, ...pause, ...resume, ...begun(4, 5, 6)], log: recorded(1, 4, 5, 6) },
      [],
    ],
    'a resume that was never answered owes nothing': [
      { entries: [...begin, ...pause, unparking('a', at(3.5)), killed(1)], log: recorded(1) },
      [],
    ],
    'a single instant that fell into the pause is owed after it': [
      { entries: [ask('a', { at: at(-5) }), set('a'), parking('a', at(-1)), parked('a', at(-1)), ...resume] },
      ['lost'],
    ],
    'a skip for a pause excuses nothing where nobody paused': [
      {
        entries: [...begin, ...begun(3, 4, 5, 6)],
        log: [...recorded(1, 3, 4, 5, 6), recordAt(at(2), 'alarm.skipped', { reason: 'paused' })],
      },
      ['lost'],
    ],
    'a move leaves it paused': [
      { entries: [...begin, ...pause, move('b', [9], 3), set('b', 'a', at(3))], log: recorded(1) },
      [],
    ],
    'a key that is set again does not': [
      {
        entries: [
          ask('a', { key: 'k' }),
          set('a', 'a'),
          parking('a', at(-5)),
          parked('a', at(-5)),
          ask('b', { key: 'k' }),
          set('b', 'a', at(-4)),
        ],
      },
      ['lost'],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches(parts)).toEqual(found)
  })
})
