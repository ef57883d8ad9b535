import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import { ask, breaches, every, killed, record, recordAt, set, start, startAt, T } from './by-hand.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
const calm = (seconds: number): Entry => ({ type: 'calm', at: at(seconds) })
const late = (second: number): Partial<Evidence> => ({
  entries: [ask('a'), set('a', 'a', T), killed(1), calm(3), start('a', { at: at(second) })],
  log: [record('a', 'alarm.fired', { at: at(second + 1) })],
})

const instants = Array.from({ length: 20 }, (_, i) => at(60 + i))
const punctual = (lateMs: number): Partial<Evidence> => ({
  entries: [
    ask('a', { instants, recurs: true }),
    set('a', 'a', T),
    calm(3),
    ...instants.map((instant) => startAt(instant, { at: instant + lateMs })),
  ],
  log: instants.map((instant) => recordAt(instant)),
  punctualMs: 500,
})

describe('liveness', () => {
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'it began long after the calm': [late(14), ['late']],
    'it began soon after the calm': [late(13), []],
    'nobody says when the calm began': [
      { ...late(14), entries: late(14).entries!.filter(({ type }) => type !== 'calm') },
      [],
    ],
    'a failed attempt is put off for longer than it may': [
      {
        entries: [ask('a', { retryMsMax: 1_500 }), set('a'), start('a', { willFail: true })],
        log: [record('a', 'alarm.attempt_failed', { at: T, retryAt: T + 1_501 }), record('a')],
      },
      ['late'],
    ],
    'a failed attempt waits for its instant again': [
      {
        entries: [ask('a', { retryMsMax: 1_500 }), set('a'), start('a', { willFail: true })],
        log: [record('a', 'alarm.attempt_failed', { at: at(-60), retryAt: T }), record('a')],
      },
      [],
    ],
    'what comes due in the calm begins late': [punctual(600), ['late']],
    'what comes due in the calm begins soon': [punctual(400), []],
    'it was moved meanwhile': [
      {
        ...late(14),
        entries: [
          ask('b', { at: T }),
          set('b', 'a', T),
          calm(3),
          ask('a', { alarmId: 'a', at: at(5) }),
          set('a', 'a', at(5)),
          start('b', { alarmId: 'a', occurrenceId: `a-1-${T}`, at: at(14) }),
        ],
      },
      [],
    ],
    'the one before it took long': [
      {
        entries: [every('a', 2), set('a', 'a', T), calm(0), startAt(at(1)), startAt(at(2), { at: at(30) })],
        log: [recordAt(at(1), 'alarm.fired', { at: at(29) }), recordAt(at(2), 'alarm.fired', { at: at(31) })],
      },
      [],
    ],
    'the one before it had ended long before': [
      {
        entries: [every('a', 2), set('a', 'a', T), calm(0), startAt(at(1)), startAt(at(2), { at: at(30) })],
        log: [recordAt(at(1)), recordAt(at(2), 'alarm.fired', { at: at(31) })],
      },
      ['late'],
    ],
    'the report of the one before it may have been waited for': [
      {
        entries: [
          every('a', 2, { ack: 'report' }),
          set('a', 'a', T),
          calm(0),
          startAt(at(1)),
          startAt(at(2), { at: at(30) }),
        ],
        log: [recordAt(at(1)), recordAt(at(2), 'alarm.fired', { at: at(31) })],
        until: at(60),
      },
      [],
    ],
    'it may just have been resumed': [
      {
        ...late(14),
        entries: [
          ask('a'),
          set('a', 'a', T),
          { type: 'parking', run: 1, alarmId: 'a', at: at(1) },
          { type: 'parked', run: 1, alarmId: 'a', outcome: 'parked', at: at(1) },
          { type: 'unparking', run: 1, alarmId: 'a', at: at(2) },
          calm(3),
          start('a', { at: at(14) }),
        ],
      },
      [],
    ],
    'all hands were full': [
      {
        entries: [
          ask('a'),
          set('a', 'a', T),
          ask('b'),
          set('b', 'b', T),
          calm(0),
          start('b', { underWay: 3 }),
          start('a', { at: at(14), underWay: 3 }),
        ],
        log: [record('b', 'alarm.fired', { at: at(13) }), record('a', 'alarm.fired', { at: at(15) })],
        concurrency: 3,
      },
      [],
    ],
    'its record came long after the calm': [
      {
        entries: [ask('a', { toLog: true }), set('a', 'a', T), calm(3)],
        log: [record('a', 'timer.due_time_reached', { at: at(14) })],
      },
      ['late'],
    ],
    'its rule spreads it': [
      { ...late(14), entries: [ask('a', { jitterMs: 5 * SECOND }), ...late(14).entries!.slice(1)] },
      [],
    ],
    'more time is given': [{ ...late(14), promptMs: 11 * SECOND }, []],
    'the store has something overdue': [{ overdue: ['a was to wake'] }, ['late']],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches(parts)).toEqual(found)
  })
})
