import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import {
  ask,
  breaches,
  cancelled,
  cancelling,
  every,
  parked,
  parking,
  record,
  recordAt,
  set,
  start,
  startAt,
  T,
  unparking,
} from './by-hand.ts'
import type { Ask, Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'

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

check('who is told that an alarm has ended', {
  'is told so though it has more to come': [
    { entries: [...begun, ...ended(1.5), ...all.starts], log: all.log },
    ['refused'],
  ],
  'is told so when nothing more is to come': [
    { entries: [...begun, ...all.starts, ...ended(3.5)], log: all.log },
    [],
  ],
  'is told so after a cancel that nobody answered': [
    { entries: [...begun, cancelling('a', at(0.2)), ...ended(0.5)], log: [] },
    [],
  ],
  'cannot let it go on though it has more to come': [
    {
      entries: [
        ...begun,
        parking('a', at(0.1)),
        parked('a', at(0.2)),
        unparking('a', at(1.5)),
        { type: 'unparked', run: 1, alarmId: 'a', outcome: 'refused', at: at(1.6) },
      ],
    },
    ['refused'],
  ],
  'cannot pause what was moved while it fires': [
    {
      entries: [
        ask('a'),
        set('a', 'a', at(-9)),
        start('a'),
        ask('b', { alarmId: 'a', instants: [at(60)], at: at(1) }),
        set('b', 'a', at(1)),
        parking('a', at(2)),
        { type: 'parked', run: 1, alarmId: 'a', outcome: 'refused', at: at(2.1) },
      ],
      log: [record('a')],
      until,
    },
    [],
  ],
})

const toLog: Entry[] = [every('a', 30, { toLog: true }), set('a', 'a', T)]
const ticked = (...seconds: number[]) => seconds.map((second) => recordAt(at(second), 'schedule.ticked'))

check('what goes to the log', {
  'is there after its cancel': [
    {
      entries: [...toLog, cancelling('a', at(1.1)), cancelled('a', 'cancelled', at(1.2))],
      log: ticked(1, 2),
    },
    ['after_cancel'],
  ],
  'is there before its cancel': [
    { entries: [...toLog, cancelling('a', at(1.1)), cancelled('a', 'cancelled', at(1.2))], log: ticked(1) },
    [],
  ],
  'is there while it is paused': [
    { entries: [...toLog, parking('a', at(1.1)), parked('a', at(1.2))], log: ticked(1, 2) },
    ['while_parked'],
  ],
  'may be there, a little antedated, when it goes on': [
    {
      entries: [...toLog, parking('a', at(1.1)), parked('a', at(1.2)), unparking('a', at(5))],
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

check('what is skipped', {
  'as missed, and was not late': [
    { entries: skipping({ missedMs: 60_000 }), log: skipped('misfire', 60_000) },
    ['lost'],
  ],
  'as missed, and was late': [
    { entries: skipping({ missedMs: 60_000 }), log: skipped('misfire', 60_001) },
    [],
  ],
  'for another, and may not be': [
    { entries: skipping({ yields: false }), log: skipped('overlap', 0) },
    ['lost'],
  ],
  'for another, and may be': [{ entries: skipping({ yields: true }), log: skipped('overlap', 0) }, []],
})

const tried = (attempt: number, triesMax: number): Entry[] => [
  ask('a', { triesMax }),
  set('a', 'a', at(-1)),
  start('a', { attempt, willFail: true }),
]

check('an occurrence', {
  'is tried once more than it may be': [
    { entries: tried(3, 2), log: [record('a', 'alarm.failed', { attempts: 3 })] },
    ['tries'],
  ],
  'is given up too soon': [
    { entries: tried(1, 2), log: [record('a', 'alarm.failed', { attempts: 1 })] },
    ['tries'],
  ],
  'is given up when its tries are used up': [
    { entries: tried(2, 2), log: [record('a', 'alarm.failed', { attempts: 2 })] },
    [],
  ],
  'is given up because it was cancelled': [
    {
      entries: [...tried(1, 2), cancelling('a', at(1)), cancelled('a', 'firing', at(1))],
      log: [record('a', 'alarm.failed', { attempts: 1 })],
    },
    [],
  ],
})

const overlapping = (isAlone: boolean): Partial<Evidence> => ({
  entries: [every('a', 2, { ack: 'report', isAlone }), set('a', 'a', T), startAt(at(1)), startAt(at(2))],
  log: [1, 2].flatMap((s) => [recordAt(at(s)), recordAt(at(s), 'alarm.completed', { at: at(s + 1.5) })]),
})

check('one that begins before the report of the one before', {
  'may not': [overlapping(true), ['overlap']],
  may: [overlapping(false), []],
})

const reported = (isGood = true): Entry => ({
  type: 'report',
  run: 1,
  alarmId: 'a',
  occurrenceId: `a-1-${T}`,
  isGood,
  at: at(1),
})
const awaited: Entry[] = [ask('a', { ack: 'report' }), set('a', 'a', at(-1)), start('a')]
const timedOut = (second: number) => record('a', 'alarm.timed_out', { at: at(second) })

check('a report', {
  'was taken in, and the log says that none came': [
    { entries: [...awaited, reported()], log: [record('a'), timedOut(2)] },
    ['report_lost'],
  ],
  'came after its time': [{ entries: [...awaited, reported()], log: [record('a'), timedOut(0.9)] }, []],
  'is in the log': [
    { entries: [...awaited, reported()], log: [record('a'), record('a', 'alarm.completed')] },
    [],
  ],
  'was followed by another that says otherwise': [
    { entries: [...awaited, reported(), reported(false)], log: [record('a'), timedOut(2)] },
    [],
  ],
})

check('a follower of the log', {
  "is given what is another's": [
    {
      entries: [1, 2].map((place) => ({ type: 'read', run: 1, reader: 'r', place })),
      logPlaces: [1],
      logOwn: [1],
    },
    ['isolated'],
  ],
  'is given what was written later': [
    {
      entries: [1, 2].map((place) => ({ type: 'read', run: 1, reader: 'r', place })),
      logPlaces: [1],
      logOwn: [1, 2],
    },
    [],
  ],
})
