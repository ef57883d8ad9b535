import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import type { Breach } from './breach.ts'
import type { Evidence } from './evidence.ts'
import {
  ask,
  breaches,
  cancelled,
  cancelling,
  drained,
  evidence,
  killed,
  processPaused,
  record,
  set,
  start,
  T,
  third,
} from './fixtures.ts'
import { judge } from './judge.ts'

describe('the judge', () => {
  it('imports nothing from outside its folder', () => {
    const folder = new URL('./', import.meta.url)
    for (const file of readdirSync(folder).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    )) {
      const text = readFileSync(new URL(file, folder), 'utf8')
      const foreign = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(([, path]) =>
        /^\.\/[\w-]+\.ts$/.test(path!) ? [] : `${file} imports ${path}`,
      )
      expect(foreign).toEqual([])
    }
  })

  it('names the broken promise', () => {
    const [lost] = judge(evidence({ entries: [ask('a'), set('a')] })).violations
    expect(lost).toMatchObject({ breach: 'lost', promise: 'durable' })
    const log = [record('a', 'alarm.attempt_failed')]
    const [again] = judge(evidence({ entries: [ask('a'), set('a')], log })).violations
    expect(again).toMatchObject({ breach: 'lost', promise: 'at-least-once' })
  })
})

describe('the judge finds nothing if', () => {
  const fine: Record<string, Partial<Evidence>> = {
    'an alarm was set, delivered and recorded': {
      entries: [ask('a'), set('a'), start('a')],
      log: [record('a')],
    },
    'a set was never answered and never happened': { entries: [ask('a'), killed(1)] },
    'a set was never answered and yet happened': {
      entries: [ask('a'), killed(1), start('a', { run: 2 })],
      log: [record('a')],
    },
    'a kill explains the second delivery': {
      entries: [ask('a'), set('a'), start('a'), killed(1), start('a', { run: 2, attempt: 2 })],
      log: [record('a')],
    },
    'a pause explains the second delivery, by the process that took over': {
      entries: [ask('a'), set('a'), start('a'), processPaused(1), start('a', { run: 2, attempt: 2 })],
      log: [record('a')],
    },
    'a pause explains the second delivery, by the same process as owner anew': {
      entries: [ask('a'), set('a'), start('a'), processPaused(1), start('a', { attempt: 2 })],
      log: [record('a')],
    },
    'a process was paused after its last lease check and its handler began when it continued': {
      entries: [ask('a'), set('a'), processPaused(1), start('a', { run: 2, attempt: 2 }), start('a')],
      log: [record('a', 'alarm.attempt_failed', { position: 9 }), record('a')],
    },
    'a failed attempt explains the second delivery': {
      entries: [ask('a'), set('a'), start('a', { willFail: true }), start('a', { attempt: 2 })],
      log: [record('a', 'alarm.attempt_failed', { position: 9 }), record('a')],
    },
    'a closing process aborted a delivery at the drain bound and the next one is the same attempt': {
      entries: [ask('a'), set('a'), start('a'), drained('a'), start('a', { run: 2 })],
      log: [record('a')],
    },
    'a cancel won': { entries: [ask('a'), set('a'), cancelling('a'), cancelled('a')] },
    'a cancel won and a second one found it ended': {
      entries: [
        ask('a'),
        set('a'),
        cancelling('a'),
        cancelled('a'),
        cancelling('a'),
        cancelled('a', 'ended'),
      ],
    },
    'a cancel was never answered': { entries: [ask('a'), set('a'), cancelling('a'), killed(1)] },
    'a cancel came too late for a delivery that goes on': {
      entries: [ask('a'), set('a'), cancelling('a'), cancelled('a', 'firing'), start('a')],
      log: [record('a')],
    },
    'a key was set again before its instant': {
      entries: [
        ask('a', { key: 'k' }),
        set('a', 'x'),
        ask('b', { key: 'k' }),
        set('b', 'x'),
        start('b', { alarmId: 'x' }),
      ],
      log: [record('b')],
    },
    'an unanswered set of the same key did not happen': {
      entries: [ask('a', { key: 'k' }), set('a'), ask('b', { key: 'k' }), killed(1), start('a', { run: 2 })],
      log: [record('a')],
    },
    'a key was set again after its cancel': {
      entries: [
        ask('a', { key: 'k' }),
        set('a', 'x'),
        cancelling('x'),
        cancelled('x'),
        ask('b', { key: 'k' }),
        set('b', 'x'),
        start('b', { alarmId: 'x' }),
      ],
      log: [record('b')],
    },
    'a run of misfires is in the log as skipped': {
      entries: [ask('a', { instants: [T, T + 1000, T + 2000] }), set('a'), start('a', third)],
      log: [
        record('a', 'alarm.skipped', { skippedTo: T + 1000, reason: 'misfire' }),
        record('a', 'alarm.fired', { occurrenceId: third.occurrenceId, scheduledFor: T + 2000 }),
      ],
    },
    'kills used up all attempts and the log has the failure': {
      entries: [ask('a'), set('a')],
      log: [record('a', 'alarm.failed')],
    },
    'a row was written with its settle': {
      entries: [ask('a', { effect: true }), set('a'), start('a')],
      log: [record('a')],
      effects: [`a-1-${T}`],
    },
    'a row exists whose settle was pruned': {
      entries: [ask('a', { effect: true }), set('a'), start('a')],
      effects: [`a-1-${T}`],
      prunedBefore: T + 1,
    },
    'the target is the log': {
      entries: [ask('a', { toLog: true }), set('a')],
      log: [record('a', 'timer.due_time_reached')],
    },
    'a report arrived, failed or timed out': {
      entries: ['a', 'b', 'c'].flatMap((name) => [ask(name, { ack: 'report' }), set(name), start(name)]),
      log: [
        ...['a', 'b', 'c'].map((name) => record(name)),
        record('a', 'alarm.completed'),
        record('b', 'alarm.failed'),
        record('c', 'alarm.timed_out'),
      ],
    },
  }
  test.each(Object.entries(fine))('%s', (_, parts) => {
    expect(judge(evidence(parts)).violations).toEqual([])
  })
})

describe('the judge finds the planted bug:', () => {
  const planted: Record<string, [Partial<Evidence>, Breach]> = {
    'an acknowledged alarm was dropped': [{ entries: [ask('a'), set('a')] }, 'lost'],
    'one instant of a recurring alarm was dropped': [
      {
        entries: [ask('a', { instants: [T, T + 2000] }), set('a'), start('a', third)],
        log: [record('a', 'alarm.fired', { occurrenceId: third.occurrenceId, scheduledFor: T + 2000 })],
      },
      'lost',
    ],
    'an alarm was skipped as cancelled without a cancel': [
      { entries: [ask('a'), set('a')], log: [record('a', 'alarm.skipped', { reason: 'cancelled' })] },
      'lost',
    ],
    'the last set of a key was dropped': [
      {
        entries: [ask('a', { key: 'k' }), set('a'), start('a'), ask('b', { key: 'k' }), set('b')],
        log: [record('a')],
      },
      'lost',
    ],
    'a cancel answered ended, and it never fired': [
      { entries: [ask('a'), set('a'), cancelling('a'), cancelled('a', 'ended')] },
      'lost',
    ],
    'a record to the log is missing': [{ entries: [ask('a', { toLog: true }), set('a')] }, 'lost'],
    'it fired a millisecond early': [
      { entries: [ask('a'), set('a'), start('a', { at: T - 1 })], log: [record('a')] },
      'early',
    ],
    'it fired twice in one run': [
      { entries: [ask('a'), set('a'), start('a'), start('a', { attempt: 2 })], log: [record('a')] },
      'duplicate',
    ],
    'it fired again although the run before was not killed': [
      { entries: [ask('a'), set('a'), start('a'), start('a', { run: 2, attempt: 2 })], log: [record('a')] },
      'duplicate',
    ],
    'it fired twice in a process that had been paused before': [
      {
        entries: [ask('a'), set('a'), processPaused(1), start('a'), start('a', { attempt: 2 })],
        log: [record('a')],
      },
      'duplicate',
    ],
    'it fired again although the first was recorded before the pause': [
      {
        entries: [ask('a'), set('a'), start('a'), processPaused(1, 10), start('a', { run: 2, attempt: 2 })],
        log: [record('a')],
      },
      'duplicate',
    ],
    'it fired again although the first was recorded before the kill': [
      {
        entries: [ask('a'), set('a'), start('a'), killed(1, 10), start('a', { run: 2, attempt: 2 })],
        log: [record('a')],
      },
      'duplicate',
    ],
    'it fired again after a kill as attempt 1': [
      { entries: [ask('a'), set('a'), start('a'), killed(1), start('a', { run: 2 })], log: [record('a')] },
      'uncounted',
    ],
    'it fired as attempt 1 after a closing process aborted attempt 2': [
      {
        entries: [
          ask('a'),
          set('a'),
          start('a', { attempt: 2 }),
          processPaused(1),
          drained('a', 2),
          start('a', { run: 2 }),
        ],
        log: [record('a')],
      },
      'uncounted',
    ],
    'it fired as attempt 1 in a process that had continued after another took over': [
      {
        entries: [
          ask('a'),
          set('a'),
          processPaused(1),
          start('a', { run: 2, attempt: 2, willFail: true }),
          set('b'),
          start('a'),
        ],
        log: [record('a')],
      },
      'uncounted',
    ],
    'the attempt of a paused process was not counted': [
      {
        entries: [ask('a'), set('a'), processPaused(1), start('a', { run: 2 }), start('a')],
        log: [record('a')],
      },
      'uncounted',
    ],
    'it fired after its cancel had won': [
      { entries: [ask('a'), set('a'), cancelling('a'), cancelled('a'), start('a')], log: [record('a')] },
      'after_cancel',
    ],
    'a delivery is not in the log': [{ entries: [ask('a'), set('a'), start('a')] }, 'unrecorded'],
    'a report that never came is not in the log': [
      { entries: [ask('a', { ack: 'report' }), set('a'), start('a')], log: [record('a')] },
      'unrecorded',
    ],
    'an occurrence is in the log as fired twice': [
      { entries: [ask('a'), set('a'), start('a')], log: [record('a'), record('a')] },
      'recorded_twice',
    ],
    'an occurrence is in the log as fired and as failed': [
      { entries: [ask('a'), set('a'), start('a')], log: [record('a'), record('a', 'alarm.failed')] },
      'recorded_twice',
    ],
    'a report is in the log twice': [
      {
        entries: [ask('a', { ack: 'report' }), set('a'), start('a')],
        log: [record('a'), record('a', 'alarm.completed'), record('a', 'alarm.timed_out')],
      },
      'recorded_twice',
    ],
    'a row was written twice': [
      {
        entries: [ask('a', { effect: true }), set('a'), start('a')],
        log: [record('a')],
        effects: [`a-1-${T}`, `a-1-${T}`],
      },
      'effect',
    ],
    'a row is missing although the settle was written': [
      { entries: [ask('a', { effect: true }), set('a'), start('a')], log: [record('a')] },
      'effect',
    ],
    'a row exists although its attempt was rolled back': [
      {
        entries: [ask('a', { effect: true }), set('a'), start('a')],
        log: [record('a', 'alarm.failed')],
        effects: [`a-1-${T}`],
      },
      'effect',
    ],
    'a delivery was never requested': [{ entries: [start('a')], log: [record('a')] }, 'phantom'],
    'a delivery was at an instant that was never requested': [
      {
        entries: [ask('a'), set('a'), start('a'), start('a', third)],
        log: [record('a'), record('a', 'alarm.fired', { occurrenceId: third.occurrenceId })],
      },
      'phantom',
    ],
    'an alarm is still pending after the drain': [{ pending: ['a'] }, 'pending'],
    'a call failed without a fault': [{ entries: [{ type: 'error', run: 1, text: 'oh' }] }, 'error'],
  }
  test.each(Object.entries(planted))('%s', (_, [parts, breach]) => {
    expect(breaches(parts)).toEqual([breach])
  })
})
