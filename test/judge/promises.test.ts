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
  unparked,
  unparking,
} from './by-hand.ts'
import type { Ask, Entry, Start } from './entries.ts'
import type { Evidence } from './evidence.ts'

type Cases = Record<string, [Partial<Evidence>, Breach[]]>

const SECOND = 1000
const at = (seconds: number) => T + seconds * SECOND
/** An alarm at T that was set, delivered and recorded, as this ask and this start tell. */
const kept = (asked: Partial<Ask>, began: Partial<Start>): Partial<Evidence> => ({
  entries: [ask('a', asked), set('a'), start('a', began)],
  log: [record('a')],
})
const snoop = (answer: string): Entry => ({ type: 'snoop', run: 1, call: 'cancel', answer })
const read = (...places: number[]): Entry[] =>
  places.map((place) => ({ type: 'read', run: 1, reader: 'r', place }))

function check(promise: string, cases: Cases): void {
  describe(promise, () => {
    test.each(Object.entries(cases))('%s', (_, [parts, found]) => {
      expect(breaches(parts)).toEqual(found)
    })
  })
}

check('never-early', {
  'what goes to the log is not there before its instant': [
    {
      entries: [ask('a', { toLog: true }), set('a')],
      log: [record('a', 'timer.due_time_reached', { at: T - 1 })],
    },
    ['early'],
  ],
  'what goes to the log may be there at its instant': [
    {
      entries: [ask('a', { toLog: true }), set('a')],
      log: [record('a', 'timer.due_time_reached', { at: T })],
    },
    [],
  ],
})

check('fenced', {
  'another owns the shard': [kept({}, { process: 'ant', owner: 'bee' }), ['unfenced']],
  'nobody owns the shard': [kept({}, { process: 'ant', owner: null }), ['unfenced']],
  'it owns the shard itself': [kept({}, { process: 'ant', owner: 'ant' }), []],
  'nobody looked who owns the shard': [kept({}, { process: 'ant' }), []],
  'a former owner wrote something': [{ formerOwners: ['bee wrote'] }, ['former_owner']],
})

check('verbatim', {
  'a payload came back in other bytes': [kept({ payload: '{"a": 1}' }, { payload: '{"a":1}' }), ['verbatim']],
  'a payload did not come back': [kept({ payload: '1' }, { payload: null }), ['verbatim']],
  'a message came back otherwise': [kept({ message: 'é' }, { message: 'e' }), ['verbatim']],
  'both came back as they were': [
    kept({ payload: '1.0', message: 'é' }, { payload: '1.0', message: 'é' }),
    [],
  ],
})

check('isolated', {
  'what is not his was cancelled': [{ entries: [snoop('cancelled')] }, ['isolated']],
  'what is not his was not found': [{ entries: [snoop('not_found')] }, []],
  'it was delivered to another': [kept({ scope: 'acme/ann' }, { scope: 'acme/bob' }), ['isolated']],
  'it was delivered to him': [kept({ scope: 'acme/ann' }, { scope: 'acme/ann' }), []],
  'the same key of another is another alarm': [
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
  'a process has more under way than it may': [{ ...kept({}, { underWay: 4 }), concurrency: 3 }, ['bounded']],
  'a process has as much under way as it may': [{ ...kept({}, { underWay: 3 }), concurrency: 3 }, []],
})

check('at-least-once, for those who follow the log', {
  'a record was never given': [{ entries: read(1, 3), logPlaces: [1, 2, 3] }, ['log_missed']],
  'a record was given twice': [{ entries: read(1, 2, 2, 3), logPlaces: [1, 2, 3] }, ['log_missed']],
  'records came in another order': [{ entries: read(1, 3, 2), logPlaces: [1, 2, 3] }, ['log_missed']],
  'nothing was ever given': [{ logPlaces: [1, 2, 3] }, ['log_missed']],
  'every record was given once': [{ entries: read(1, 2, 3), logPlaces: [1, 2, 3] }, []],
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
  'a rule fired at an instant that it does not have': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), startAt(at(1.5)), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(1.5)), recordAt(at(2))],
    },
    ['off_calendar'],
  ],
  'a rule ticked in the log at an instant that it does not have': [
    {
      entries: [every('a', 1, { toLog: true }), set('a', 'a', T)],
      log: [recordAt(at(1), 'schedule.ticked'), recordAt(at(1.5), 'schedule.ticked')],
    },
    ['off_calendar'],
  ],
  'an instant came that had been moved before': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), ...moved(1), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(2))],
      until,
    },
    ['off_calendar'],
  ],
  'an instant came that was due when it was moved': [
    {
      entries: [every('a', 2), set('a', 'a', T), startAt(at(1)), ...moved(1.8), startAt(at(2))],
      log: [recordAt(at(1)), recordAt(at(2))],
      until,
    },
    [],
  ],
  'an instant came of a key that had been set again before': [
    {
      entries: [ask('a', { key: 'k', instants: [at(2)] }), set('a'), ...keyed(1), startAt(at(2))],
      log: [recordAt(at(2))],
      until,
    },
    ['off_calendar'],
  ],
  'an instant came though its key may have been set again before': [
    {
      entries: [ask('a', { key: 'k', instants: [at(2)] }), set('a'), keyed(1)[0]!, startAt(at(2))],
      log: [recordAt(at(2))],
      until,
    },
    [],
  ],
  'an ask was refused and yet delivered': [
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
  'it was tried again after its cancel had answered firing': [
    {
      entries: [ask('a'), set('a'), ...firing(1), start('a', { willFail: true }), start('a', { attempt: 2 })],
      log: [record('a')],
    },
    ['after_cancel'],
  ],
  'it was tried for the last time after its cancel had answered firing': [
    {
      entries: [ask('a'), set('a'), start('a', { willFail: true }), ...firing(1), start('a', { attempt: 2 })],
      log: [record('a')],
    },
    [],
  ],
  'it failed after its cancel had answered firing, and is to be tried again': [
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
  'it was moved after its cancel had answered firing': [
    {
      entries: [ask('a'), set('a'), ...firing(1), ...moved(2), startAt(at(60))],
      log: [recordAt(at(60))],
    },
    [],
  ],
  'an old ask of a key began after its cancel, though the key was set again': [
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

const begin: Entry[] = [every('a', 2), set('a', 'a', T), startAt(at(1)), parking('a', at(1.5))]
const both = [recordAt(at(1)), recordAt(at(2))]

check('cancel-wins, for a pause by the user', {
  'something new began while it was paused': [
    { entries: [...begin, parked('a', at(1.6)), startAt(at(2))], log: both },
    ['while_parked'],
  ],
  'something new began while it was paused, to which it had been moved': [
    {
      entries: [
        ...begin,
        parked('a', at(1.6)),
        ask('b', { alarmId: 'a', instants: [at(2)], at: at(1.7) }),
        set('b', 'a', at(1.8)),
        startAt(at(2)),
      ],
      log: both,
    },
    ['while_parked'],
  ],
  'something began that was due before the pause was answered': [
    { entries: [...begin, parked('a', at(2)), startAt(at(2))], log: both },
    [],
  ],
  'what failed while it was paused was tried again': [
    {
      entries: [...begin, parked('a', at(1.6)), startAt(at(1), { at: at(3), attempt: 2 })],
      log: [recordAt(at(1), 'alarm.attempt_failed', { at: at(2) }), recordAt(at(1))],
      until: at(1),
    },
    ['duplicate', 'while_parked'],
  ],
  'something began while the pause was not answered': [
    { entries: [...begin, startAt(at(2))], log: both },
    [],
  ],
  'something began while it was being resumed': [
    {
      entries: [
        ...begin,
        parked('a', at(1.6)),
        unparking('a', at(1.7)),
        startAt(at(2)),
        unparked('a', at(2.1)),
      ],
      log: both,
    },
    [],
  ],
})
