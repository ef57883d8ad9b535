import { describe, expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import { type Alarm, buildAlarm, firstTimer, type Timer } from '../model/index.ts'
import { type DeliveryOutcome, settle } from './settle.ts'

const NOW = Date.UTC(2030, 0, 1)
const HOUR = 3_600_000
const context = { now: NOW + HOUR + 10, graceMs: 60_000, random: () => 0, newId: () => 'new' }
const times = { firedAt: NOW + HOUR + 3, endedAt: NOW + HOUR + 8 }
const delivered: DeliveryOutcome = { kind: 'delivered', ...times, report: null }
const failed: DeliveryOutcome = { kind: 'failed', ...times, error: 'broken' }

function loaded(
  when: When,
  options: SetOptions = {},
  changed: { alarm?: Partial<Alarm>; timer?: Partial<Timer>; others?: Timer[] | null } = {},
) {
  const resolved = resolveWhen(when, { now: NOW, timezone: 'UTC' })
  const shop = {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: (spec: unknown) => ({
      kind: spec === 'log' ? 'event' : 'handler',
      name: String(spec),
      pool: 'app',
    }),
    newId: () => 'id',
  }
  const alarm = {
    ...buildAlarm({ tenant: 't', owner: 'o' }, resolved, { target: 'h', ...options }, NOW, shop),
    ...changed.alarm,
  }
  const timer: Timer = {
    ...firstTimer(alarm, resolved),
    id: 1,
    shard: 1,
    version: 1,
    edited: false,
    report: null,
    ...changed.timer,
  }
  const others = changed.others === undefined ? null : changed.others && [timer, ...changed.others]
  return { alarm, timer, others }
}

const once: When = { delay: '1h' }
const hourly: When = { every: '1h' }
const types = (change: ReturnType<typeof settle>) => change!.events!.map(({ type }) => type)

describe('a once alarm', () => {
  test('that was delivered is fired, with its times', () => {
    const change = settle(loaded(once), delivered, context)!
    expect(change).toMatchObject({
      remove: [1],
      outcome: {
        status: 'fired',
        startedAt: times.firedAt,
        lastFiredAt: times.firedAt,
        durationMs: 5,
        attempts: 1,
        failureCount: 0,
      },
      tally: { from: 'pending', to: 'completed', durationMs: 5 },
    })
    expect(change.events).toMatchObject([
      {
        type: 'alarm.fired',
        occurrence: `1-${NOW + HOUR}`,
        data: { drift_ms: 3, attempt: 1, duration_ms: 5 },
      },
    ])
  })

  test('that awaits its report stays, with a timer for it', () => {
    const change = settle(loaded(once, { ack: 'report', completionTimeout: '5m' }), delivered, context)!
    expect(change).toMatchObject({
      update: [{ id: 1, kind: 'report', wakeAt: context.now + 300_000, startedAt: times.firedAt }],
      outcome: { status: null, completedAt: null, durationMs: null },
      tally: { from: 'pending', to: 'fired', durationMs: null },
    })
    expect(change.remove).toBeUndefined()
  })

  test('whose handler reported is completed at once, with both records', () => {
    const change = settle(loaded(once, { ack: 'report' }), { ...delivered, report: 'done' }, context)
    expect(change).toMatchObject({ outcome: { status: 'completed', result: 'done' } })
    expect(types(change)).toEqual(['alarm.fired', 'alarm.completed'])
  })

  test.each([
    [0, 5_000],
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
  ])('that failed after %i failures waits %i ms', (attempt, wait) => {
    const change = settle(loaded(once, {}, { timer: { attempt } }), failed, context)!
    expect(change).toMatchObject({
      update: [{ kind: 'retry', wakeAt: context.now + wait, attempt: attempt + 1 }],
      outcome: {
        status: null,
        result: `RETRY: broken (attempt ${attempt + 1}/5)`,
        failureCount: attempt + 1,
      },
      tally: { from: 'pending', to: 'pending' },
    })
    expect(types(change)).toEqual(['alarm.attempt_failed'])
  })

  test('adds up to a tenth of chance to the wait', () => {
    const change = settle(loaded(once), failed, { ...context, random: () => 0.999_999 })
    expect(change!.update![0]!.wakeAt).toBe(context.now + 5_500)
  })

  test('that used up its attempts has failed', () => {
    const change = settle(loaded(once, { maxFailures: 3 }, { timer: { attempt: 2 } }), failed, context)
    expect(change).toMatchObject({
      remove: [1],
      outcome: {
        status: 'failed',
        result: 'FAILED: broken (after 3 attempts)',
        lastError: 'broken',
        attempts: 3,
      },
      tally: { from: 'pending', to: 'failed' },
    })
    expect(types(change)).toEqual(['alarm.failed'])
  })

  test('whose target refuses for good is not tried again', () => {
    expect(settle(loaded(once), { ...failed, final: true }, context)).toMatchObject({
      outcome: { status: 'failed' },
    })
  })

  test('whose target is gone ends cancelled, with the record of its failure, and counts as failed', () => {
    const change = settle(loaded(once), { ...failed, gone: true }, context)
    expect(change).toMatchObject({
      remove: [1],
      outcome: { status: 'cancelled', lastError: 'broken', result: 'FAILED: broken (after 1 attempt)' },
      alarm: { cancelledAt: context.now },
      tally: { from: 'pending', to: 'failed' },
    })
    expect(types(change)).toEqual(['alarm.failed', 'alarm.cancelled'])
  })

  test('that its target takes no earlier waits till then, uncounted, and is not taken for missed', () => {
    const change = settle(loaded(once), { kind: 'released', until: NOW + 2 * HOUR }, context)
    expect(change).toEqual({
      update: [expect.objectContaining({ id: 1, wakeAt: NOW + 2 * HOUR, waiting: 'handler', attempt: 0 })],
    })
    const paused = loaded(once, {}, { alarm: { pausedAt: NOW } })
    expect(settle(paused, { kind: 'released', until: NOW + 2 * HOUR }, context)).toMatchObject({
      update: [{ wakeAt: null, waiting: 'paused' }],
    })
  })

  test.each([
    ['longer than the backoff', 60_000, 60_000],
    ['shorter than the backoff', 1_000, 5_000],
    ['beyond a day', 10 * 86_400_000, 86_400_000],
    ['for at once', 0, 0],
    ['by a clock with fractions', 7_000.25, 7_001],
  ])('honours a wish to be retried %s', (_, retryAfterMs, wait) => {
    const change = settle(loaded(once), { ...failed, retryAfterMs }, context)
    expect(change!.update![0]!.wakeAt).toBe(context.now + wait)
  })

  test('keeps the first attempt’s start over its retries', () => {
    const change = settle(loaded(once, {}, { timer: { attempt: 1, startedAt: NOW } }), delivered, context)
    expect(change!.outcome).toMatchObject({
      startedAt: NOW,
      lastFiredAt: times.firedAt,
      durationMs: HOUR + 8,
      attempts: 2,
    })
  })

  test('that was handed back stays as it is, one version on', () => {
    expect(settle(loaded(once), { kind: 'released' }, context)).toMatchObject({
      update: [{ id: 1, kind: 'due', wakeAt: NOW + HOUR, attempt: 0 }],
    })
  })

  test('whose process was lost is tried again at once, and it counts', () => {
    const change = settle(loaded(once), { kind: 'lost' }, context)
    expect(change).toMatchObject({ update: [{ kind: 'retry', wakeAt: context.now, attempt: 1 }] })
  })

  // Found by the simulation on a SQLite file (test/simulation/sqlite), seed 2 of 15 November 2026.
  test.each<DeliveryOutcome>([{ kind: 'lost' }, failed])(
    'is tried again no earlier than its instant, though the clock was set back since ($kind)',
    (delivery) => {
      const change = settle(loaded(once), delivery, { ...context, now: NOW + HOUR - 60_000 })
      expect(change).toMatchObject({ update: [{ kind: 'retry', wakeAt: NOW + HOUR, attempt: 1 }] })
    },
  )
})

describe('a recurring alarm', () => {
  test('goes on to the next instant of its rule, whatever the delay was (calendar-true)', () => {
    const change = settle(loaded(hourly), delivered, { ...context, now: NOW + HOUR + 59_000 })
    expect(change).toMatchObject({ update: [{ id: 1, kind: 'due', wakeAt: NOW + 2 * HOUR, tick: 2 }] })
    expect(change!.tally).toEqual({ from: null, to: null, durationMs: 5 })
  })

  test('keeps a failed occurrence open beside its next one', () => {
    const change = settle(loaded(hourly), failed, context)
    expect(change).toMatchObject({
      update: [{ id: 1, kind: 'due', wakeAt: NOW + 2 * HOUR }],
      add: [{ kind: 'retry', scheduledFor: NOW + HOUR, attempt: 1 }],
    })
  })

  test('records a failure for good and moves on', () => {
    const change = settle(loaded(hourly, { maxFailures: 1 }), failed, context)
    expect(change).toMatchObject({
      update: [{ kind: 'due', wakeAt: NOW + 2 * HOUR }],
      outcome: { status: null, lastError: 'broken', failureCount: 1 },
    })
    expect(types(change)).toEqual(['alarm.failed'])
  })

  test('parks its next occurrence where it was paused meanwhile', () => {
    const change = settle(loaded(hourly, {}, { alarm: { pausedAt: NOW } }), delivered, context)
    expect(change!.update).toMatchObject([{ wakeAt: null, waiting: 'paused', scheduledFor: NOW + 2 * HOUR }])
  })

  test('must look at its other timers before it ends', () => {
    const last = { every: '1h', count: 1 }
    expect(settle(loaded(last), delivered, context)).toBeNull()
    expect(settle(loaded(last, {}, { others: [] }), delivered, context)).toMatchObject({
      remove: [1],
      outcome: { status: 'completed' },
      tally: { from: 'pending', to: 'completed' },
    })
  })

  test('does not end while an earlier occurrence is open', () => {
    const { timer } = loaded(hourly)
    const open = { ...timer, id: 2, kind: 'retry' as const }
    const change = settle(loaded({ every: '1h', count: 1 }, {}, { others: [open] }), delivered, context)
    expect(change!.remove).toEqual([1])
    expect(change!.tally).toEqual({ from: null, to: null, durationMs: 5 })
  })

  test('lets the queued occurrence go when the open one ends', () => {
    const queued = {
      ...loaded(hourly).timer,
      id: 2,
      wakeAt: null,
      waiting: 'overlap' as const,
      scheduledFor: NOW + 2 * HOUR,
    }
    const options = { overlap: 'queue' as const, ack: 'report' as const }
    const open = loaded(hourly, options, { timer: { kind: 'retry' }, others: [queued] })
    const change = settle(open, { ...delivered, report: 'done' }, context)
    expect(change).toMatchObject({ remove: [1], update: [{ id: 2, wakeAt: NOW + 2 * HOUR }] })
  })
})

describe('a recurring alarm whose target is gone', () => {
  const gone = { ...failed, gone: true }
  const other = (fields: Partial<Timer>) => ({ ...loaded(hourly).timer, id: 2, ...fields })

  test('is looked up whole first, and ends where nothing else is open', () => {
    expect(settle(loaded(hourly), gone, context)).toBeNull()
    const change = settle(loaded(hourly, {}, { others: [] }), gone, context)
    expect(change).toMatchObject({ remove: [1], outcome: { status: 'cancelled' } })
    expect(types(change)).toEqual(['alarm.failed', 'alarm.cancelled'])
  })

  test('drops its next occurrence and what waits for another try, which gets its record', () => {
    const due = other({ id: 2, wakeAt: NOW + 2 * HOUR })
    const retry = other({ id: 3, kind: 'retry', wakeAt: NOW + 3 * HOUR, scheduledFor: NOW })
    const change = settle(
      loaded(hourly, {}, { timer: { kind: 'retry' }, others: [due, retry] }),
      gone,
      context,
    )
    expect(change).toMatchObject({ remove: [1, 2, 3], outcome: { status: 'cancelled' } })
    expect(types(change)).toEqual(['alarm.failed', 'alarm.skipped', 'alarm.cancelled'])
  })

  test('lets what may be in flight end first, as after a user’s cancel', () => {
    const inFlight = other({ id: 2, kind: 'forced', wakeAt: context.now - 1 })
    const change = settle(loaded(hourly, {}, { others: [inFlight] }), gone, context)
    expect(change).toMatchObject({
      remove: [1],
      markEdited: [2],
      alarm: { cancelledAt: context.now },
      outcome: { status: null },
    })
    expect(types(change)).toEqual(['alarm.failed'])
  })
})

describe('what happened to the alarm meanwhile', () => {
  const cancelled = { alarm: { cancelledAt: NOW }, others: [] }

  test.each([
    ['once, delivered', once, delivered, 'fired', ['alarm.fired']],
    ['once, failed', once, failed, 'failed', ['alarm.failed']],
    ['once, released', once, { kind: 'released' }, 'cancelled', ['alarm.skipped', 'alarm.cancelled']],
    ['once, lost', once, { kind: 'lost' }, 'cancelled', ['alarm.skipped', 'alarm.cancelled']],
    ['recurring, delivered', hourly, delivered, 'cancelled', ['alarm.fired', 'alarm.cancelled']],
    ['recurring, failed', hourly, failed, 'cancelled', ['alarm.failed', 'alarm.cancelled']],
    ['recurring, lost', hourly, { kind: 'lost' }, 'cancelled', ['alarm.skipped', 'alarm.cancelled']],
  ] as const)('a cancel ends it without retry or recurrence: %s', (_, when, delivery, status, events) => {
    const change = settle(loaded(when, {}, cancelled), delivery, context)
    expect(change).toMatchObject({ remove: [1] })
    expect(change!.status ?? change!.outcome?.status).toBe(status)
    expect(change!.add).toBeUndefined()
    expect(types(change)).toEqual(events)
  })

  test.each([{ kind: 'released' }, { kind: 'lost' }] as const)(
    'a try after a failed report: $kind',
    (delivery) => {
      const timer = { kind: 'retry', delivered: true } as const
      const change = settle(loaded(hourly, { ack: 'report' }, { ...cancelled, timer }), delivery, context)
      expect(types(change)).toEqual(['alarm.cancelled'])
    },
  )

  test('a cancel ends an alarm that would have awaited its report', () => {
    const change = settle(loaded(once, { ack: 'report' }, cancelled), delivered, context)
    expect(change).toMatchObject({
      outcome: { status: 'cancelled' },
      tally: { from: 'pending', to: 'cancelled' },
    })
  })

  test.each([
    [delivered, 'alarm.fired'],
    [failed, 'alarm.failed'],
    [{ kind: 'released' }, 'alarm.skipped'],
    [{ kind: 'lost' }, 'alarm.skipped'],
  ] as const)('a reschedule leaves it nothing but its record: %o', (delivery, type) => {
    const change = settle(
      loaded(once, {}, { alarm: { generation: 2 }, timer: { generation: 1 } }),
      delivery,
      context,
    )!
    expect(Object.keys(change).sort((a, b) => (a < b ? -1 : 1))).toEqual(['events', 'remove'])
    expect(types(change)).toEqual([type])
  })

  test.each([
    [true, delivered, ['alarm.fired', 'alarm.completed']],
    [true, { kind: 'lost' }, ['alarm.fired', 'alarm.completed']],
    [false, delivered, ['alarm.failed']],
  ] as const)('a reschedule leaves it its report (%s) too: %o', (ok, delivery, recorded) => {
    const timer = { generation: 1, report: { ok, text: 'x' } }
    const change = settle(loaded(once, {}, { alarm: { generation: 2 }, timer }), delivery, context)!
    expect(types(change)).toEqual(recorded)
  })

  test.each([
    [true, delivered, 'completed'],
    [true, { kind: 'lost' }, 'completed'],
    [false, delivered, null],
  ] as const)('an early report (%s) is what came of it: %o', (ok, delivery, status) => {
    const change = settle(
      loaded(once, { ack: 'report' }, { timer: { report: { ok, text: 'said' } } }),
      delivery,
      context,
    )
    expect(change!.outcome).toMatchObject({ status })
  })
})

test('a fire to the log is its own record, with the payload byte for byte', () => {
  const options = { target: 'log', payload: { a: 1 }, message: 'hello' }
  const draft = settle(loaded(once, options), delivered, context)!.events![0]!
  expect(draft).toMatchObject({
    type: 'timer.due_time_reached',
    origin: 'scheduled',
    payload: '{"a":1}',
    data: { message: 'hello' },
  })
  expect(settle(loaded(hourly, options), delivered, context)!.events![0]!.type).toBe('schedule.ticked')
})

test('a dead-letter target gets an alarm of its own, due now, which starts no chain', () => {
  const options = { maxFailures: 1, onFailure: 'bury', key: 'k', idempotencyKey: 'i', payload: { a: 1 } }
  const { alarm, timer } = settle(loaded(once, options), failed, context)!.spawn![0]!
  expect(alarm).toMatchObject({
    id: 'new',
    target: { name: 'bury' },
    key: null,
    idempotencyKey: null,
    onFailure: null,
    payload: '{"a":1}',
    createdVia: 'dead-letter',
  })
  expect(timer).toMatchObject({ kind: 'due', wakeAt: context.now, generation: 1 })
})
