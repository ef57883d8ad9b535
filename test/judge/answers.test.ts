import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Ask, Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'
import {
  ask,
  breaches,
  cancelled,
  cancelling,
  every,
  paused,
  pausing,
  record,
  recordAt,
  resuming,
  set,
  start,
  startAt,
  T,
} from './fixtures.ts'

type Cases = Record<string, [Partial<Evidence>, Breach[]]>

const at = (seconds: number) => T + seconds * 1000
const until = at(3)

function check(what: string, cases: Cases): void {
  describe(what, () => {
    test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
      expect(breaches(parts)).toEqual(found)
    })
  })
}

const begun: Entry[] = [every('a', 3), set('a', 'a', T)]
const ended = (second: number): Entry[] => [
  cancelling('a', at(second)),
  cancelled('a', 'ended', at(second + 0.1)),
]
const all = {
  starts: [1, 2, 3].map((second) => startAt(at(second))),
  log: [1, 2, 3].map((s) => recordAt(at(s))),
}

check('a call refused because the alarm has ended', {
  'is a violation if the alarm has future occurrences': [
    { entries: [...begun, ...ended(1.5), ...all.starts], log: all.log },
    ['refused'],
  ],
  'is allowed if it has none': [{ entries: [...begun, ...all.starts, ...ended(3.5)], log: all.log }, []],
  'is allowed after an unanswered cancel': [
    { entries: [...begun, cancelling('a', at(0.2)), ...ended(0.5)], log: [] },
    [],
  ],
  'is a violation for a resume of an alarm with future occurrences': [
    {
      entries: [
        ...begun,
        pausing('a', at(0.1)),
        paused('a', at(0.2)),
        resuming('a', at(1.5)),
        { type: 'resumed', run: 1, alarmId: 'a', outcome: 'refused', at: at(1.6) },
      ],
    },
    ['refused'],
  ],
  'is allowed for a pause of a rescheduled alarm that is still firing': [
    {
      entries: [
        ask('a'),
        set('a', 'a', at(-9)),
        start('a'),
        ask('b', { alarmId: 'a', instants: [at(60)], at: at(1) }),
        set('b', 'a', at(1)),
        pausing('a', at(2)),
        { type: 'paused', run: 1, alarmId: 'a', outcome: 'refused', at: at(2.1) },
      ],
      log: [record('a')],
      until,
    },
    [],
  ],
})

const toLog: Entry[] = [every('a', 30, { toLog: true }), set('a', 'a', T)]
const ticked = (...seconds: number[]) => seconds.map((second) => recordAt(at(second), 'schedule.ticked'))

check('a record of an alarm whose target is the log', {
  'is written after the cancel': [
    {
      entries: [...toLog, cancelling('a', at(1.1)), cancelled('a', 'cancelled', at(1.2))],
      log: ticked(1, 2),
    },
    ['after_cancel'],
  ],
  'is written before the cancel': [
    { entries: [...toLog, cancelling('a', at(1.1)), cancelled('a', 'cancelled', at(1.2))], log: ticked(1) },
    [],
  ],
  'is written while the alarm is paused': [
    { entries: [...toLog, pausing('a', at(1.1)), paused('a', at(1.2))], log: ticked(1, 2) },
    ['while_paused'],
  ],
  'may be dated slightly before the resume': [
    {
      entries: [...toLog, pausing('a', at(1.1)), paused('a', at(1.2)), resuming('a', at(5))],
      log: ticked(1, 2),
      until,
    },
    [],
  ],
})

const skipped = (reason: string, lateMs: number): Evidence['log'] => [
  recordAt(at(1), 'alarm.skipped', { skippedTo: at(1), reason, at: at(1) + lateMs }),
  recordAt(at(2)),
]
const skipping = (asked: Partial<Ask>): Entry[] => [
  every('a', 2, asked),
  set('a', 'a', T),
  startAt(at(2), { at: at(9) }),
]

check('a skipped occurrence', {
  'is a misfire although it was within the grace period': [
    { entries: skipping({ graceMs: 60_000 }), log: skipped('misfire', 60_000) },
    ['lost'],
  ],
  'is a misfire after the grace period': [
    { entries: skipping({ graceMs: 60_000 }), log: skipped('misfire', 60_001) },
    [],
  ],
  'overlapped although the policy does not skip': [
    { entries: skipping({ skipsOnOverlap: false }), log: skipped('overlap', 0) },
    ['lost'],
  ],
  'overlapped and the policy skips': [
    { entries: skipping({ skipsOnOverlap: true }), log: skipped('overlap', 0) },
    [],
  ],
})

const tried = (attempt: number, attemptsMax: number): Entry[] => [
  ask('a', { attemptsMax }),
  set('a', 'a', at(-1)),
  start('a', { attempt, willFail: true }),
]

check('an occurrence', {
  'has one attempt too many': [
    { entries: tried(3, 2), log: [record('a', 'alarm.failed', { attempts: 3 })] },
    ['attempts'],
  ],
  'fails for good after too few attempts': [
    { entries: tried(1, 2), log: [record('a', 'alarm.failed', { attempts: 1 })] },
    ['attempts'],
  ],
  'fails for good after its last attempt': [
    { entries: tried(2, 2), log: [record('a', 'alarm.failed', { attempts: 2 })] },
    [],
  ],
  'fails early because it was cancelled': [
    {
      entries: [...tried(1, 2), cancelling('a', at(1)), cancelled('a', 'firing', at(1))],
      log: [record('a', 'alarm.failed', { attempts: 1 })],
    },
    [],
  ],
})

const overlapping = (isExclusive: boolean): Partial<Evidence> => ({
  entries: [every('a', 2, { ack: 'report', isExclusive }), set('a', 'a', T), startAt(at(1)), startAt(at(2))],
  log: [1, 2].flatMap((s) => [recordAt(at(s)), recordAt(at(s), 'alarm.completed', { at: at(s + 1.5) })]),
})

check('an occurrence that begins before the report on the previous one', {
  'breaks an exclusive policy': [overlapping(true), ['overlap']],
  'is allowed otherwise': [overlapping(false), []],
})

const reported = (succeeded = true): Entry => ({
  type: 'report',
  run: 1,
  alarmId: 'a',
  occurrenceId: `a-1-${T}`,
  succeeded,
  at: at(1),
})
const awaited: Entry[] = [ask('a', { ack: 'report' }), set('a', 'a', at(-1)), start('a')]
const timedOut = (second: number) => record('a', 'alarm.timed_out', { at: at(second) })

check('a report', {
  'was accepted, but the log has a timeout': [
    { entries: [...awaited, reported()], log: [record('a'), timedOut(2)] },
    ['report_lost'],
  ],
  'arrived after the timeout': [{ entries: [...awaited, reported()], log: [record('a'), timedOut(0.9)] }, []],
  'is in the log': [
    { entries: [...awaited, reported()], log: [record('a'), record('a', 'alarm.completed')] },
    [],
  ],
  'was followed by a report with another result': [
    { entries: [...awaited, reported(), reported(false)], log: [record('a'), timedOut(2)] },
    [],
  ],
})

check('a reader of the log', {
  "gets another owner's record": [
    {
      entries: [1, 2].map((position) => ({ type: 'read', run: 1, reader: 'r', position })),
      logPositions: [1],
      logAllowed: [1],
    },
    ['isolated'],
  ],
  'gets a record that was written after the end of the run': [
    {
      entries: [1, 2].map((position) => ({ type: 'read', run: 1, reader: 'r', position })),
      logPositions: [1],
      logAllowed: [1, 2],
    },
    [],
  ],
})
