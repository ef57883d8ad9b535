import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'
import {
  ask,
  breaches,
  cancelled,
  cancelling,
  every,
  killed,
  paused,
  pausing,
  record,
  recordAt,
  resumed,
  resuming,
  set,
  start,
  startAt,
  T,
} from './fixtures.ts'

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
/** Deliveries of `a` at these seconds after T, with their records. */
const begun = (...seconds: number[]): Entry[] => seconds.map((second) => startAt(at(second)))
const recorded = (...seconds: number[]) => seconds.map((second) => recordAt(at(second)))
const refused = (name: string): Entry => ({ type: 'refused', run: 1, name, at: T })
const calm = (seconds: number): Entry => ({ type: 'calm', at: at(seconds) })
/** A reschedule of `a` to other instants, sent at this second. */
const move = (name: string, instants: number[], second: number, recurs = false) =>
  ask(name, { alarmId: 'a', instants: instants.map(at), at: at(second), recurs })

describe('of a recurring alarm', () => {
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'all instants after its answer are owed': [
      { entries: [every('a', 4), set('a', 'a', at(1.5)), ...begun(2, 3)], log: recorded(2, 3) },
      ['lost'],
    ],
    'no instant before its answer is owed': [
      { entries: [every('a', 4), set('a', 'a', at(1.5)), ...begun(2, 3, 4)], log: recorded(2, 3, 4) },
      [],
    ],
    'an instant between two handled ones is owed even if the set was never answered': [
      { entries: [every('a', 9), killed(1), ...begun(2, 4)], log: recorded(2, 4) },
      ['lost'],
    ],
    'nothing else is owed if the set was never answered': [
      { entries: [every('a', 9), killed(1), ...begun(2, 3)], log: recorded(2, 3) },
      [],
    ],
    'instants after the end are not owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2)], log: recorded(1, 2), until: at(10) },
      [],
    ],
    'instants without enough time to begin are not owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2)], log: recorded(1, 2), until: at(12) },
      [],
    ],
    'instants with enough time to begin are owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2)], log: recorded(1, 2), until: at(14) },
      ['lost'],
    ],
    'instants without enough time after the last fault are not owed': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2), killed(1), calm(8)],
        log: recorded(1, 2),
        until: at(14),
      },
      [],
    ],
    'instants with enough time after the last fault are owed': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2), killed(1), calm(3)],
        log: recorded(1, 2),
        until: at(14),
      },
      ['lost'],
    ],
    'instants after one that was just caught up are not owed yet': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1), startAt(at(2), { at: at(13) })],
        log: [recordAt(at(1)), recordAt(at(2), 'alarm.fired', { at: at(13.1) })],
        until: at(14),
      },
      [],
    ],
    'an instant before a handled one is owed, and not excused by a cancel that was never sent': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 3)],
        log: [...recorded(1, 3), recordAt(at(2), 'alarm.skipped', { reason: 'cancelled' })],
        until: at(4),
      },
      ['lost'],
    ],
    'instants that wait because all slots are in use are not owed': [
      {
        entries: [ask('a'), set('a'), ask('b'), set('b'), start('b', { running: 3 })],
        log: [record('b')],
        until: at(20),
        concurrency: 3,
      },
      [],
    ],
    'instants that wait although slots are free are owed': [
      {
        entries: [ask('a'), set('a'), ask('b'), set('b'), start('b', { running: 2 })],
        log: [record('b')],
        until: at(20),
        concurrency: 3,
      },
      ['lost'],
    ],
    'nothing is owed at the end if the faults never ended': [
      {
        entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1, 2), killed(1)],
        log: recorded(1, 2),
        until: at(60),
      },
      [],
    ],
    'instants behind a running delivery are not owed': [
      { entries: [every('a', 30), set('a', 'a', at(0)), ...begun(1)], until: at(14), endsMs: 60 * SECOND },
      [],
    ],
    'pruned instants may have been skipped': [
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

describe('of a rescheduled alarm', () => {
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'its new instant is owed': [
      {
        entries: [ask('a', { at: at(-9) }), set('a', 'a', at(-9)), move('b', [5], -5), set('b', 'a', at(-5))],
      },
      ['lost'],
    ],
    'its old instant is not owed, and deliveries keep the name of the set': [
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
    'one of both is owed if the reschedule was never answered': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), killed(1)] },
      ['lost'],
    ],
    'the old one is enough if the reschedule was never answered': [
      {
        entries: [ask('a'), set('a'), move('b', [5], -5), killed(1), start('a', { run: 2 })],
        log: [record('a')],
      },
      [],
    ],
    'the new one is enough if the reschedule was never answered': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), killed(1), ...begun(5)], log: recorded(5) },
      [],
    ],
    'an unanswered rule owes nothing before it can have been written': [
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
    'an unanswered rule owes what comes after it can have been written': [
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
    'the old one is owed if the reschedule was refused': [
      { entries: [ask('a'), set('a'), move('b', [5], -5), refused('b')] },
      ['lost'],
    ],
    'the old one is not owed if it was due just before the reschedule': [
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
    'an old one before a handled one is owed': [
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
    'it may be in the log as rescheduled': [
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
    'an instant of the new rule is owed': [
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

describe('of an alarm paused by its user', () => {
  const begin: Entry[] = [every('a', 6), set('a', 'a', at(0)), ...begun(1)]
  const pause = [pausing('a', at(1.5)), paused('a', at(1.6))]
  const resume = [resuming('a', at(3.5)), resumed('a', at(3.6))]
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'nothing is owed': [{ entries: [...begin, ...pause], log: recorded(1) }, []],
    'nothing is owed if the pause was never answered': [
      { entries: [...begin, pausing('a', at(1.5)), killed(1)], log: recorded(1) },
      [],
    ],
    'everything is owed if the pause was refused': [
      {
        entries: [
          ...begin,
          pausing('a', at(1.5)),
          { type: 'paused', run: 1, alarmId: 'a', outcome: 'refused', at: at(1.6) },
        ],
        log: recorded(1),
      },
      ['lost', 'refused'],
    ],
    'instants after the resume are owed': [
      { entries: [...begin, ...pause, ...resume, ...begun(4, 5)], log: recorded(1, 4, 5) },
      ['lost'],
    ],
    'instants during the pause are not owed': [
      { entries: [...begin, ...pause, ...resume, ...begun(4, 5, 6)], log: recorded(1, 4, 5, 6) },
      [],
    ],
    'an unanswered resume owes nothing': [
      { entries: [...begin, ...pause, resuming('a', at(3.5)), killed(1)], log: recorded(1) },
      [],
    ],
    'a one-time alarm due during the pause is owed after it': [
      { entries: [ask('a', { at: at(-5) }), set('a'), pausing('a', at(-1)), paused('a', at(-1)), ...resume] },
      ['lost'],
    ],
    'a skip for a pause excuses nothing without a pause': [
      {
        entries: [...begin, ...begun(3, 4, 5, 6)],
        log: [...recorded(1, 3, 4, 5, 6), recordAt(at(2), 'alarm.skipped', { reason: 'paused' })],
      },
      ['lost'],
    ],
    'a reschedule keeps the pause': [
      { entries: [...begin, ...pause, move('b', [9], 3), set('b', 'a', at(3))], log: recorded(1) },
      [],
    ],
    'a set of its key keeps the pause': [
      {
        entries: [
          ask('a', { key: 'k', at: at(-6) }),
          set('a', 'a', at(-6)),
          pausing('a', at(-5)),
          paused('a', at(-5)),
          ask('b', { key: 'k', at: at(-4) }),
          set('b', 'a', at(-4)),
          start('b', { alarmId: 'a' }),
        ],
        log: [record('a', 'alarm.fired', { occurrenceId: `b-1-${T}` })],
      },
      ['while_paused'],
    ],
    'a set of its key after a cancel starts afresh, without the pause': [
      {
        entries: [
          ask('a', { key: 'k', at: at(-6) }),
          set('a', 'a', at(-6)),
          pausing('a', at(-5)),
          paused('a', at(-5)),
          cancelling('a'),
          cancelled('a'),
          ask('b', { key: 'k', at: at(-4) }),
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
