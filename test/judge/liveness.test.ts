import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'
import { ask, breaches, every, killed, record, recordAt, set, start, startAt, T } from './fixtures.ts'

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
    'it began long after the last fault': [late(14), ['late']],
    'it began soon after the last fault': [late(13), []],
    'the end of the faults is unknown': [
      { ...late(14), entries: late(14).entries!.filter(({ type }) => type !== 'calm') },
      [],
    ],
    'a retry waits longer than the backoff allows': [
      {
        entries: [ask('a', { retryMsMax: 1_500 }), set('a'), start('a', { willFail: true })],
        log: [record('a', 'alarm.attempt_failed', { at: T, retryAt: T + 1_501 }), record('a')],
      },
      ['late'],
    ],
    'a retry waits for its instant after the clock was set back': [
      {
        entries: [ask('a', { retryMsMax: 1_500 }), set('a'), start('a', { willFail: true })],
        log: [record('a', 'alarm.attempt_failed', { at: at(-60), retryAt: T }), record('a')],
      },
      [],
    ],
    'the median delivery after the last fault is late': [punctual(600), ['late']],
    'the median delivery after the last fault is prompt': [punctual(400), []],
    'it was rescheduled meanwhile': [
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
    'the previous occurrence took long': [
      {
        entries: [every('a', 2), set('a', 'a', T), calm(0), startAt(at(1)), startAt(at(2), { at: at(30) })],
        log: [recordAt(at(1), 'alarm.fired', { at: at(29) }), recordAt(at(2), 'alarm.fired', { at: at(31) })],
      },
      [],
    ],
    'the previous occurrence had ended long before': [
      {
        entries: [every('a', 2), set('a', 'a', T), calm(0), startAt(at(1)), startAt(at(2), { at: at(30) })],
        log: [recordAt(at(1)), recordAt(at(2), 'alarm.fired', { at: at(31) })],
      },
      ['late'],
    ],
    'it may have waited for the report on the previous occurrence': [
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
          { type: 'pausing', run: 1, alarmId: 'a', at: at(1) },
          { type: 'paused', run: 1, alarmId: 'a', outcome: 'paused', at: at(1) },
          { type: 'resuming', run: 1, alarmId: 'a', at: at(2) },
          calm(3),
          start('a', { at: at(14) }),
        ],
      },
      [],
    ],
    'all slots were in use': [
      {
        entries: [
          ask('a'),
          set('a', 'a', T),
          ask('b'),
          set('b', 'b', T),
          calm(0),
          start('b', { running: 3 }),
          start('a', { at: at(14), running: 3 }),
        ],
        log: [record('b', 'alarm.fired', { at: at(13) }), record('a', 'alarm.fired', { at: at(15) })],
        concurrency: 3,
      },
      [],
    ],
    'its record came long after the last fault': [
      {
        entries: [ask('a', { toLog: true }), set('a', 'a', T), calm(3)],
        log: [record('a', 'timer.due_time_reached', { at: at(14) })],
      },
      ['late'],
    ],
    'its jitter delays it': [
      { ...late(14), entries: [ask('a', { jitterMs: 5 * SECOND }), ...late(14).entries!.slice(1)] },
      [],
    ],
    'the limit is longer': [{ ...late(14), promptMs: 11 * SECOND }, []],
    'the store has something overdue': [{ overdue: ['a was to wake'] }, ['late']],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches(parts)).toEqual(found)
  })
})
