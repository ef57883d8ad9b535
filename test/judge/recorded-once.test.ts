import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'
import {
  ask,
  breaches,
  every,
  paused,
  pausing,
  record,
  recordAt,
  set,
  start,
  startAt,
  T,
} from './fixtures.ts'

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
const skipped = (from: number, to: number) =>
  recordAt(at(from), 'alarm.skipped', { skippedTo: at(to), reason: 'misfire' })
const open: Entry[] = [ask('a'), set('a', 'a', T), start('a')]

describe('recorded-once', () => {
  const cases: Record<string, [Partial<Evidence>, Breach[]]> = {
    'an instant is in the log as skipped and as fired': [
      {
        entries: [every('a', 3), set('a', 'a', T), startAt(at(2)), startAt(at(3))],
        log: [skipped(1, 2), recordAt(at(2)), recordAt(at(3))],
      },
      ['recorded_twice'],
    ],
    'an instant is in two skipped ranges': [
      { entries: [every('a', 3), set('a', 'a', T)], log: [skipped(1, 2), skipped(2, 3)] },
      ['recorded_twice'],
    ],
    'skipped ranges follow each other': [
      { entries: [every('a', 4), set('a', 'a', T)], log: [skipped(1, 2), skipped(3, 4)] },
      [],
    ],
    'a delivery that began long before the end has no record': [
      { entries: open, until: at(20) },
      ['unrecorded'],
    ],
    'a delivery that began just before the end has no record yet': [{ entries: open, until: at(9) }, []],
    'a retry is due after the end': [
      { entries: open, log: [record('a', 'alarm.attempt_failed', { retryAt: at(15) })], until: at(20) },
      [],
    ],
    'a retry was due long before the end': [
      { entries: open, log: [record('a', 'alarm.attempt_failed', { retryAt: at(5) })], until: at(20) },
      ['unrecorded'],
    ],
    'a paused alarm is retried later': [
      { entries: [...open, pausing('a', at(1)), paused('a', at(1))], until: at(20) },
      [],
    ],
    'a record was pruned': [{ entries: open, prunedBefore: T + 1 }, []],
    'a report is overdue at the end': [
      {
        entries: [ask('a', { ack: 'report', reportMs: SECOND }), set('a'), start('a')],
        log: [record('a')],
        until: at(20),
      },
      ['unrecorded'],
    ],
    'a cancel ends the wait for a report': [
      {
        entries: [
          ask('a', { ack: 'report' }),
          set('a'),
          start('a'),
          { type: 'cancelling', run: 1, alarmId: 'a' },
          { type: 'cancel', run: 1, alarmId: 'a', outcome: 'firing' },
        ],
        log: [record('a')],
      },
      [],
    ],
    'a failure report leads to a retry': [
      {
        entries: [ask('a', { ack: 'report', reportMs: SECOND }), set('a'), start('a')],
        log: [record('a'), record('a', 'alarm.attempt_failed', { retryAt: at(3) })],
        until: at(20),
      },
      [],
    ],
    'a report is still pending at the end': [
      {
        entries: [ask('a', { ack: 'report', reportMs: 15 * SECOND }), set('a'), start('a')],
        log: [record('a')],
        until: at(20),
      },
      [],
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
    expect(breaches(parts)).toEqual(found)
  })
})
