import { describe, expect, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Ask, Entry, Start } from './entries.ts'
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
  resumed,
  resuming,
  set,
  start,
  startAt,
  T,
} from './fixtures.ts'

type Cases = Record<string, [Partial<Evidence>, Breach[]]>

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
/** An alarm at T that was set, delivered and recorded, with these fields. */
const kept = (asked: Partial<Ask>, began: Partial<Start>): Partial<Evidence> => ({
  entries: [ask('a', asked), set('a'), start('a', began)],
  log: [record('a')],
})
const foreignAccess = (answer: string): Entry => ({ type: 'foreign_access', run: 1, call: 'cancel', answer })
const read = (...positions: number[]): Entry[] =>
  positions.map((position) => ({ type: 'read', run: 1, reader: 'r', position }))

function check(promise: string, cases: Cases): void {
  describe(promise, () => {
    test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
      expect(breaches(parts)).toEqual(found)
    })
  })
}

check('never-early', {
  'a record to the log is written before its instant': [
    {
      entries: [ask('a', { toLog: true }), set('a')],
      log: [record('a', 'timer.due_time_reached', { at: T - 1 })],
    },
    ['early'],
  ],
  'a record to the log is written at its instant': [
    {
      entries: [ask('a', { toLog: true }), set('a')],
      log: [record('a', 'timer.due_time_reached', { at: T })],
    },
    [],
  ],
})

check('fenced', {
  'another process holds the lease': [kept({}, { process: 'ant', owner: 'bee' }), ['unfenced']],
  'no process holds the lease': [kept({}, { process: 'ant', owner: null }), ['unfenced']],
  'the delivering process holds the lease': [kept({}, { process: 'ant', owner: 'ant' }), []],
  'the lease holder was not recorded': [kept({}, { process: 'ant' }), []],
  'a write of a former lease holder was accepted': [{ formerOwners: ['bee wrote'] }, ['former_owner']],
})

check('verbatim', {
  'a payload arrived with other bytes': [kept({ payload: '{"a": 1}' }, { payload: '{"a":1}' }), ['verbatim']],
  'a payload did not arrive': [kept({ payload: '1' }, { payload: null }), ['verbatim']],
  'a message arrived changed': [kept({ message: 'é' }, { message: 'e' }), ['verbatim']],
  'both arrived unchanged': [kept({ payload: '1.0', message: 'é' }, { payload: '1.0', message: 'é' }), []],
})

check('isolated', {
  "another owner's alarm was cancelled": [{ entries: [foreignAccess('cancelled')] }, ['isolated']],
  "another owner's alarm was not found": [{ entries: [foreignAccess('not_found')] }, []],
  'it was delivered to another owner': [kept({ scope: 'acme/ann' }, { scope: 'acme/bob' }), ['isolated']],
  'it was delivered to its owner': [kept({ scope: 'acme/ann' }, { scope: 'acme/ann' }), []],
  "another owner's alarm with the same key is separate": [
    {
      entries: [
        ask('a', { key: 'k', scope: 'acme/' }),
        set('a'),
        ask('b', { key: 'k', scope: 'zoo/' }),
        set('b'),
        start('b'),
      ],
      log: [record('b')],
    },
    ['lost'],
  ],
})

check('bounded', {
  'a process runs more deliveries than allowed': [
    { ...kept({}, { running: 4 }), concurrency: 3 },
    ['bounded'],
  ],
  'a process runs as many deliveries as allowed': [{ ...kept({}, { running: 3 }), concurrency: 3 }, []],
})

check('at-least-once, for readers of the log', {
  'a record was missed': [{ entries: read(1, 3), logPositions: [1, 2, 3] }, ['log_missed']],
  'a record was read twice': [{ entries: read(1, 2, 2, 3), logPositions: [1, 2, 3] }, ['log_missed']],
  'records were out of order': [{ entries: read(1, 3, 2), logPositions: [1, 2, 3] }, ['log_missed']],
  'no record was read': [{ logPositions: [1, 2, 3] }, ['log_missed']],
  'every record was read once': [{ entries: read(1, 2, 3), logPositions: [1, 2, 3] }, []],
})

const moved = (second: number): Entry[] => [
  ask('b', { alarmId: 'a', instants: [at(60)], at: at(second) }),
  set('b', 'a', at(second + 0.5)),
]
const keyed = (second: number): Entry[] => [
  ask('b', { key: 'k', instants: [at(60)], at: at(second) }),
  set('b', 'a', at(second + 0.5)),
]
const until = at(60)

check('calendar-true', {
  'a rule fired at an instant that it does not contain': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), startAt(at(1.5)), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(1.5)), recordAt(at(2))],
    },
    ['off_calendar'],
  ],
  'a rule ticked in the log at an instant that it does not contain': [
    {
      entries: [every('a', 1, { toLog: true }), set('a', 'a', T)],
      log: [recordAt(at(1), 'schedule.ticked'), recordAt(at(1.5), 'schedule.ticked')],
    },
    ['off_calendar'],
  ],
  'an instant fired after it was rescheduled': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), ...moved(1), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(2))],
      until,
    },
    ['off_calendar'],
  ],
  'an instant fired that was due when it was rescheduled': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), ...moved(1.8), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(2))],
      until,
    },
    [],
  ],
  'an instant fired after its key was set again': [
    {
      entries: [ask('a', { key: 'k', instants: [at(2)] }), set('a'), ...keyed(1), startAt(at(2))],
      log: [recordAt(at(2))],
      until,
    },
    ['off_calendar'],
  ],
  'an instant fired although its key may have been set again': [
    {
      entries: [ask('a', { key: 'k', instants: [at(2)] }), set('a'), keyed(1)[0]!, startAt(at(2))],
      log: [recordAt(at(2))],
      until,
    },
    [],
  ],
  'a refused ask was delivered': [
    { entries: [ask('a'), { type: 'refused', run: 1, name: 'a' }, start('a')], log: [record('a')] },
    ['phantom'],
  ],
})

const firing = (second: number): Entry[] => [
  cancelling('a', at(second)),
  cancelled('a', 'firing', at(second + 0.1)),
]

check('cancel-wins', {
  'it was not due when its cancel answered firing': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), ...firing(1.1), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(2))],
    },
    ['after_cancel'],
  ],
  'it was retried after its cancel answered firing': [
    {
      entries: [ask('a'), set('a'), ...firing(1), start('a', { willFail: true }), start('a', { attempt: 2 })],
      log: [record('a')],
    },
    ['after_cancel'],
  ],
  'its last attempt was after its cancel answered firing': [
    {
      entries: [ask('a'), set('a'), start('a', { willFail: true }), ...firing(1), start('a', { attempt: 2 })],
      log: [record('a')],
    },
    [],
  ],
  'it failed after its cancel answered firing and will be retried': [
    {
      entries: [ask('a'), set('a'), start('a', { willFail: true }), ...firing(1)],
      log: [record('a', 'alarm.attempt_failed', { at: at(2) }), record('a')],
    },
    ['after_cancel'],
  ],
  'it had failed before its cancel answered firing': [
    {
      entries: [ask('a'), set('a'), start('a', { willFail: true }), ...firing(1)],
      log: [record('a', 'alarm.attempt_failed', { at: at(1) }), record('a')],
    },
    [],
  ],
  'it was rescheduled after its cancel answered firing': [
    {
      entries: [ask('a'), set('a'), ...firing(1), ...moved(2), startAt(at(60))],
      log: [recordAt(at(60))],
    },
    [],
  ],
  'an old ask of a key began after its cancel, although the key was set again': [
    {
      entries: [
        ask('a', { key: 'k' }),
        set('a'),
        cancelling('a'),
        cancelled('a'),
        ask('b', { key: 'k', instants: [at(60)] }),
        set('b', 'a'),
        start('a'),
      ],
      log: [record('a')],
      until: at(60),
    },
    ['after_cancel'],
  ],
})

const begin: Entry[] = [every('a', 2), set('a', 'a', T), startAt(at(1)), pausing('a', at(1.5))]
const both = [recordAt(at(1)), recordAt(at(2))]

check('cancel-wins, for a pause by the user', {
  'a new occurrence began while it was paused': [
    { entries: [...begin, paused('a', at(1.6)), startAt(at(2))], log: both },
    ['while_paused'],
  ],
  'a rescheduled occurrence began while it was paused': [
    {
      entries: [
        ...begin,
        paused('a', at(1.6)),
        ask('b', { alarmId: 'a', instants: [at(2)], at: at(1.7) }),
        set('b', 'a', at(1.8)),
        startAt(at(2)),
      ],
      log: both,
    },
    ['while_paused'],
  ],
  'an occurrence began that was due before the pause was answered': [
    { entries: [...begin, paused('a', at(2)), startAt(at(2))], log: both },
    [],
  ],
  'an attempt that failed while it was paused was retried': [
    {
      entries: [...begin, paused('a', at(1.6)), startAt(at(1), { at: at(3), attempt: 2 })],
      log: [recordAt(at(1), 'alarm.attempt_failed', { at: at(2) }), recordAt(at(1))],
      until: at(1),
    },
    ['duplicate', 'while_paused'],
  ],
  'an occurrence began before the pause was answered': [
    { entries: [...begin, startAt(at(2))], log: both },
    [],
  ],
  'an occurrence began during the resume': [
    {
      entries: [
        ...begin,
        paused('a', at(1.6)),
        resuming('a', at(1.7)),
        startAt(at(2)),
        resumed('a', at(2.1)),
      ],
      log: both,
    },
    [],
  ],
})
