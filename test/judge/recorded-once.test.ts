import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import { ask, breaches, every, parked, parking, record, recordAt, set, start, startAt, T } from './by-hand.ts'
import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'

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
    'an instant is in two runs of skipped ones': [
      { entries: [every('a', 3), set('a', 'a', T)], log: [skipped(1, 2), skipped(2, 3)] },
      ['recorded_twice'],
    ],
    'runs of skipped ones follow each other': [
      { entries: [every('a', 4), set('a', 'a', T)], log: [skipped(1, 2), skipped(3, 4)] },
      [],
    ],
    'what began long before the end has no record': [{ entries: open, until: at(20) }, ['unrecorded']],
    'what began just before the end has none yet': [{ entries: open, until: at(9) }, []],
    'what is to be tried again after the end has none yet': [
      { entries: open, log: [record('a', 'alarm.attempt_failed', { retryAt: at(15) })], until: at(20) },
      [],
    ],
    'what was to be tried again long before the end has none': [
      { entries: open, log: [record('a', 'alarm.attempt_failed', { retryAt: at(5) })], until: at(20) },
      ['unrecorded'],
    ],
    'what its user paused is tried again later': [
      { entries: [...open, parking('a', at(1)), parked('a', at(1))], until: at(20) },
      [],
    ],
    'what was pruned has none any more': [{ entries: open, prunedBefore: T + 1 }, []],
    'a report is overdue at the end': [
      {
        entries: [ask('a', { ack: 'report', reportMs: SECOND }), set('a'), start('a')],
        log: [record('a')],
        until: at(20),
      },
      ['unrecorded'],
    ],
    'a report is not waited for any more after a cancel': [
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
    'a report said that it failed, and it is tried again': [
      {
        entries: [ask('a', { ack: 'report', reportMs: SECOND }), set('a'), start('a')],
        log: [record('a'), record('a', 'alarm.attempt_failed', { retryAt: at(3) })],
        until: at(20),
      },
      [],
    ],
    'a report is still waited for at the end': [
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
