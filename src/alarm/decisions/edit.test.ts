import { describe, expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import {
  type Alarm,
  buildAlarm,
  firstTimer,
  NO_OUTCOME,
  type Outcome,
  occurrenceName,
  type Snapshot,
  type Timer,
} from '../model/index.ts'
import { amend, assertCurrent, cancel, fireNow, pause, replace, resume, retry, skipNext } from './edit.ts'

const NOW = Date.UTC(2030, 0, 1)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (ms: number) => ({ now: NOW + ms, graceMs: 60_000, random: () => 0, newId: () => 'new' })
const once: When = { delay: '1h' }
const every10: When = { every: '10m' }

interface Changed {
  readonly alarm?: Partial<Alarm>
  readonly timer?: Partial<Timer>
  readonly more?: readonly Partial<Timer>[]
  readonly outcome?: Partial<Outcome>
  readonly inFlight?: readonly number[]
}

function snapshot(when: When, changed: Changed = {}, options: SetOptions = {}): Snapshot {
  const resolved = resolveWhen(when, { now: NOW, timezone: 'UTC' })
  const shop = {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: () => ({ kind: 'handler', name: 'h', pool: 'app' }),
    newId: () => 'id',
  }
  const built = buildAlarm({ tenant: 't', owner: 'o' }, resolved, { target: 'h', ...options }, NOW, shop)
  const alarm = { ...built, ...changed.alarm }
  const row = { id: 1, shard: 1, version: 1, edited: false, report: null }
  const timer: Timer = { ...firstTimer(built, resolved), ...row, ...changed.timer }
  const more = (changed.more ?? []).map((each, i) => ({ ...timer, id: 2 + i, ...each }))
  const ended = changed.outcome?.status != null
  return {
    alarm,
    timers: ended ? [] : [timer, ...more],
    outcome: changed.outcome ? { ...NO_OUTCOME, ...changed.outcome } : null,
    inFlight: new Set(changed.inFlight),
  }
}

const recurs = (when: When) => when === every10
const code = (expected: string) => expect.objectContaining({ code: expected })
const parked = { wakeAt: null, waiting: 'paused' as const }

describe('cancel', () => {
  test('wins where nothing is firing', () => {
    const { change, outcome } = cancel(snapshot(once), at(0))
    expect(outcome).toBe('cancelled')
    expect(change).toMatchObject({
      remove: [1],
      outcome: { status: 'cancelled' },
      tally: { from: 'pending', to: 'cancelled' },
      events: [{ type: 'alarm.cancelled' }],
    })
  })

  test('says that it is too late for what is firing, removes the rest and marks it', () => {
    const firing = snapshot(every10, { more: [{ kind: 'retry' }], inFlight: [1] })
    const { change, outcome } = cancel(firing, at(5))
    expect(outcome).toBe('firing')
    expect(change).toMatchObject({ remove: [2], markEdited: [1], alarm: { cancelledAt: NOW + 5 } })
    expect(change.tally).toBeUndefined()
    expect(change.events!.map(({ type }) => type)).toEqual(['alarm.skipped'])
  })

  test('while it fires leaves nothing to be asked of it but a new time', () => {
    const doomed = snapshot(every10, {
      alarm: { cancelledAt: NOW },
      outcome: { lastError: 'x' },
      inFlight: [1],
    })
    for (const verb of [pause, resume, skipNext, fireNow, retry])
      expect(() => verb(doomed, at(0))).toThrow(code('conflict'))
    const by = { alarm: doomed.alarm, first: NOW + HOUR }
    expect(replace(doomed, by, 'reschedule', at(0)).alarm).toMatchObject({ cancelledAt: null })
  })

  test('says that an occurrence of an earlier generation is still firing', () => {
    const superseded = snapshot(once, { alarm: { generation: 2 }, more: [{ generation: 2 }], inFlight: [1] })
    const { change, outcome } = cancel(superseded, at(0))
    expect([outcome, change.remove]).toEqual(['firing', [2]])
  })

  test.each(['fired', 'completed', 'failed', 'timed_out', 'cancelled'] as const)(
    'says that %s has ended',
    (status) => {
      expect(cancel(snapshot(once, { outcome: { status } }), at(0))).toEqual({ change: {}, outcome: 'ended' })
    },
  )

  test('counts one that awaits its report out of its own bucket', () => {
    const { change } = cancel(snapshot(once, { timer: { kind: 'report' } }), at(0))
    expect(change.tally).toMatchObject({ from: 'fired', to: 'cancelled' })
  })
})

describe('pause', () => {
  test('parks what waits', () => {
    expect(pause(snapshot(every10), at(1))).toMatchObject({
      alarm: { pausedAt: NOW + 1 },
      update: [{ id: 1, ...parked }],
      events: [{ type: 'alarm.paused' }],
    })
  })

  test.each([
    ['a once alarm', once],
    ['a recurring alarm', every10],
  ])('holds the retries of %s back too, and leaves the wait for a report alone', (_, when) => {
    const open = [{ kind: 'report' as const }, { kind: 'retry' as const }]
    const change = pause(snapshot(when, { timer: { kind: 'retry' }, more: recurs(when) ? open : [] }), at(1))
    const moved = change.update!.map(({ id, wakeAt, waiting }) => [id, wakeAt, waiting])
    expect(moved).toEqual((recurs(when) ? [1, 3] : [1]).map((id) => [id, null, 'paused']))
  })

  test('twice changes nothing the second time', () => {
    expect(pause(snapshot(once, { alarm: { pausedAt: NOW }, timer: parked }), at(1))).toEqual({})
  })

  test('is refused while a once alarm fires, and marks a recurring one', () => {
    expect(() => pause(snapshot(once, { inFlight: [1] }), at(0))).toThrow(code('conflict'))
    expect(pause(snapshot(every10, { inFlight: [1] }), at(0))).toMatchObject({ markEdited: [1], update: [] })
  })
})

describe('resume', () => {
  const paused = (when: When) => snapshot(when, { alarm: { pausedAt: NOW }, timer: parked })

  test('lets a once alarm go at its instant, or at once when that has passed', () => {
    for (const later of [0, 5 * HOUR])
      expect(resume(paused(once), at(later))).toMatchObject({
        alarm: { pausedAt: null },
        update: [{ id: 1, wakeAt: NOW + HOUR }],
      })
  })

  test('records the ticks of a pause as one run, and goes on after them', () => {
    const change = resume(paused(every10), at(35 * MINUTE))
    expect(change).toMatchObject({ update: [{ id: 1, wakeAt: NOW + 40 * MINUTE, tick: 4, waiting: null }] })
    expect(change.events).toMatchObject([
      { type: 'alarm.resumed' },
      {
        type: 'alarm.skipped',
        occurrence: `1-${NOW + 10 * MINUTE}`,
        data: {
          reason: 'paused',
          count: 3,
          from: '2030-01-01T00:10:00.000Z',
          to: '2030-01-01T00:30:00.000Z',
        },
      },
    ])
  })

  test('lets what can still be on time be missed later, but not what its pause made late', () => {
    expect(resume(paused(once), at(0)).update).toMatchObject([{ waiting: null }])
    expect(resume(paused(once), at(5 * HOUR)).update![0]!.waiting).not.toBeNull()
  })

  test('lets the retries that were held back go at once', () => {
    const paused = snapshot(once, {
      alarm: { pausedAt: NOW },
      timer: { kind: 'retry', attempt: 2, ...parked },
    })
    expect(resume(paused, at(HOUR)).update).toMatchObject([{ id: 1, wakeAt: NOW + HOUR, waiting: null }])
  })

  test('skips nothing where no tick has passed', () => {
    const change = resume(paused(every10), at(5 * MINUTE))
    expect(change.update).toMatchObject([{ id: 1, wakeAt: NOW + 10 * MINUTE }])
    expect(change.events).toHaveLength(1)
  })

  test('ends an alarm whose last tick passed in the pause', () => {
    expect(resume(paused({ every: '10m', end: new Date(NOW + 25 * MINUTE) }), at(HOUR))).toMatchObject({
      remove: [1],
      outcome: { status: 'completed' },
      tally: { from: 'pending', to: 'completed' },
      events: [{ type: 'alarm.resumed' }, { type: 'alarm.skipped', data: { count: 2 } }],
    })
  })

  test('ends an alarm whose count ran out in the pause', () => {
    const change = resume(paused({ every: '10m', count: 2 }), at(HOUR))
    expect(change).toMatchObject({ remove: [1], outcome: { status: 'completed' } })
    expect(change.events![1]!.data).toMatchObject({ count: 2, to: '2030-01-01T00:20:00.000Z' })
  })

  test('of an alarm that is not paused changes nothing', () => {
    expect(resume(snapshot(once), at(0))).toEqual({})
  })
})

describe('skipNext', () => {
  test('leaves out one tick, with its record', () => {
    expect(skipNext(snapshot(every10), at(0))).toMatchObject({
      update: [{ id: 1, wakeAt: NOW + 20 * MINUTE, tick: 2 }],
      events: [{ type: 'alarm.skipped', data: { reason: 'skip_next', count: 1 } }],
    })
  })

  test('of the last one ends the alarm', () => {
    expect(skipNext(snapshot({ every: '10m', count: 1 }), at(0))).toMatchObject({
      remove: [1],
      outcome: { status: 'completed' },
    })
  })

  test.each([
    ['a once alarm', snapshot(once), 'invalid_request'],
    ['one that is firing', snapshot(every10, { inFlight: [1] }), 'conflict'],
    ['one without a next', snapshot(every10, { timer: { kind: 'retry' } }), 'conflict'],
    ['one that has ended', snapshot(every10, { outcome: { status: 'cancelled' } }), 'already_ended'],
  ])('is refused for %s', (_, found, refusal) => {
    expect(() => skipNext(found, at(0))).toThrow(code(refusal))
  })
})

describe('fireNow', () => {
  test('fires a once alarm now instead of later, paused or not', () => {
    const change = fireNow(snapshot(once, { alarm: { pausedAt: NOW }, timer: parked }), at(5))
    expect(change).toMatchObject({
      alarm: { pausedAt: null },
      update: [{ id: 1, wakeAt: NOW + 5, scheduledFor: NOW + 5, waiting: null }],
    })
  })

  test('brings a retry forward under the same occurrence', () => {
    const change = fireNow(snapshot(once, { timer: { kind: 'retry', attempt: 2 } }), at(2 * HOUR))
    expect(change.update).toMatchObject([{ id: 1, wakeAt: NOW + 2 * HOUR }])
    expect(change.update![0]!.scheduledFor ?? NOW + HOUR).toBe(NOW + HOUR)
  })

  test('adds an occurrence to a recurring alarm, under a name of its own', () => {
    const found = snapshot(every10)
    const added = fireNow(found, at(10 * MINUTE)).add![0]!
    expect(added).toMatchObject({ kind: 'forced', wakeAt: NOW + 10 * MINUTE })
    expect(occurrenceName(added)).not.toBe(occurrenceName(found.timers[0]!))
  })

  test('twice within a millisecond adds two occurrences with two names', () => {
    const found = snapshot(every10)
    const first = fireNow(found, at(5))
    const second = fireNow({ ...found, alarm: first.alarm! }, at(5))
    expect(occurrenceName(second.add![0]!)).not.toBe(occurrenceName(first.add![0]!))
  })

  test('is refused while a once alarm fires', () => {
    expect(() => fireNow(snapshot(once, { inFlight: [1] }), at(0))).toThrow(code('conflict'))
  })
})

describe('retry', () => {
  test.each(['failed', 'timed_out'] as const)('retries %s with all its attempts and a new name', (status) => {
    const change = retry(snapshot(once, { outcome: { status, attempts: 5 } }), at(2 * HOUR))
    expect(change).toMatchObject({
      alarm: { generation: 2, cancelledAt: null },
      add: [{ kind: 'retry', wakeAt: NOW + 2 * HOUR, attempt: 0, generation: 2 }],
      outcome: { status: null, completedAt: null },
      tally: { from: status, to: 'pending' },
    })
  })

  test('retries the failed occurrence of a recurring alarm besides its rule', () => {
    const change = retry(snapshot(every10, { outcome: { lastError: 'broken' } }), at(5))
    expect(change.add).toMatchObject([{ kind: 'forced' }])
  })

  test.each([
    ['active', snapshot(once), 'conflict'],
    ['recurring without a failure', snapshot(every10, { outcome: {} }), 'conflict'],
    [
      'recurring and still being retried',
      snapshot(every10, { more: [{ kind: 'retry' }], outcome: { lastError: 'x' } }),
      'conflict',
    ],
    ['fired', snapshot(once, { outcome: { status: 'fired' } }), 'already_ended'],
    ['cancelled', snapshot(once, { outcome: { status: 'cancelled' } }), 'already_ended'],
  ])('is refused for one that is %s', (_, found, refusal) => {
    expect(() => retry(found, at(0))).toThrow(code(refusal))
  })
})

describe('replace', () => {
  const by = (found: Snapshot) => ({ alarm: found.alarm, first: NOW + 3 * HOUR })

  test('starts afresh: a new generation, one timer, no outcome', () => {
    const found = snapshot(every10, {
      more: [{ kind: 'retry', attempt: 1 }, { kind: 'report' }],
      outcome: { lastError: 'x' },
    })
    expect(replace(found, by(found), 'reschedule', at(0))).toMatchObject({
      alarm: { generation: 2 },
      remove: [1, 2, 3],
      add: [{ kind: 'due', wakeAt: NOW + 3 * HOUR, tick: 1, generation: 2, attempt: 0 }],
      outcome: null,
      events: [{ type: 'alarm.skipped', data: { reason: 'rescheduled' } }, { type: 'alarm.rescheduled' }],
      tally: { from: 'pending', to: 'pending' },
    })
  })

  test('leaves what is firing to its settle', () => {
    const found = snapshot(once, { inFlight: [1] })
    expect(replace(found, by(found), 'set_again', at(0))).toMatchObject({ remove: [], markEdited: [1] })
  })

  test('keeps a paused alarm parked, unless it is told to end the pause', () => {
    const found = snapshot(once, { alarm: { pausedAt: NOW }, timer: parked })
    for (const event of ['reschedule', 'set_again'] as const)
      expect(replace(found, by(found), event, at(0)).add).toMatchObject([
        { ...parked, scheduledFor: NOW + 3 * HOUR },
      ])
    expect(replace(found, { ...by(found), resumes: true }, 'set_again', at(0))).toMatchObject({
      alarm: { pausedAt: null },
      add: [{ wakeAt: NOW + 3 * HOUR, waiting: null }],
    })
  })

  test('revives what has ended when it is set again, and refuses to reschedule it', () => {
    const found = snapshot(once, { outcome: { status: 'failed' } })
    expect(replace(found, by(found), 'set_again', at(0)).tally).toMatchObject({
      from: 'failed',
      to: 'pending',
    })
    expect(() => replace(found, by(found), 'reschedule', at(0))).toThrow(code('already_ended'))
  })
})

test('an edit grows updatedAt, and one made from an older version is refused', () => {
  const found = snapshot(once)
  const first = amend(found, { label: 'a' }, at(0)).alarm!
  const second = amend({ ...found, alarm: first }, { label: 'b' }, at(-HOUR)).alarm!
  expect([first.updatedAt - NOW, second.updatedAt - NOW]).toEqual([1, 2])
  expect(() => assertCurrent(second, first.updatedAt)).toThrow(code('conflict'))
  expect(() => assertCurrent(second, second.updatedAt)).not.toThrow()
  expect(() => assertCurrent(second, undefined)).not.toThrow()
})
