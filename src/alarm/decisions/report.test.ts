import { describe, expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import {
  buildAlarm,
  firstTimer,
  NO_OUTCOME,
  type Outcome,
  occurrenceId,
  type Snapshot,
  type Timer,
} from '../model/index.ts'
import { report } from './report.ts'

const NOW = Date.UTC(2030, 0, 1)
const HOUR = 3_600_000
const context = { now: NOW + 2 * HOUR, graceMs: 60_000, random: () => 0, newId: () => 'new' }
const once: When = { delay: '1h' }
const hourly: When = { every: '1h' }
const ok = { ok: true, text: 'done' }
const bad = { ok: false, text: 'broken' }

function snapshot(
  when: When,
  timers: readonly Partial<Timer>[],
  more: { options?: SetOptions; outcome?: Partial<Outcome>; inFlight?: number[]; pausedAt?: number } = {},
): Snapshot {
  const resolved = resolveWhen(when, { now: NOW, timezone: 'UTC' })
  const shop = {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: () => ({ kind: 'handler', name: 'h', pool: 'app' }),
    newId: () => 'id',
  }
  const options = { target: 'h', ack: 'report', ...more.options } as const
  const built = buildAlarm({ tenant: 't', owner: 'o' }, resolved, options, NOW, shop)
  const row = { shard: 1, version: 1, edited: false, report: null }
  return {
    alarm: { ...built, pausedAt: more.pausedAt ?? null },
    timers: timers.map((each, i) => ({ ...firstTimer(built, resolved), ...row, id: i + 1, ...each })),
    outcome: more.outcome === undefined ? null : { ...NO_OUTCOME, ...more.outcome },
    inFlight: new Set(more.inFlight),
  }
}

const awaited = { kind: 'report', startedAt: NOW + HOUR } as const

describe('on what awaits it', () => {
  test('success completes a once alarm, with how long it took', () => {
    expect(report(snapshot(once, [awaited]), ok, context)).toMatchObject({
      remove: [1],
      outcome: { status: 'completed', result: 'done', durationMs: HOUR, lastError: null },
      tally: { from: 'fired', to: 'completed', durationMs: HOUR },
      events: [{ type: 'alarm.completed', data: { result: 'done', duration_ms: HOUR } }],
    })
  })

  test('failure with attempts left leads to a retry', () => {
    expect(report(snapshot(once, [awaited]), bad, context)).toMatchObject({
      update: [{ id: 1, kind: 'retry', attempt: 1, wakeAt: context.now + 5_000 }],
      outcome: { status: null, result: 'RETRY: broken (attempt 1/5)' },
      tally: { from: 'fired', to: 'pending' },
    })
  })

  test('failure without attempts left ends it', () => {
    expect(report(snapshot(once, [awaited], { options: { maxFailures: 1 } }), bad, context)).toMatchObject({
      remove: [1],
      outcome: { status: 'failed', result: 'FAILED: broken (after 1 attempt)' },
      tally: { from: 'fired', to: 'failed' },
    })
  })

  test('an occurrence of a recurring alarm ends, and the alarm goes on', () => {
    const change = report(snapshot(hourly, [{ ...awaited, id: 2 }, { id: 1 }]), ok, context)
    expect(change).toMatchObject({ remove: [2], outcome: { status: null, result: 'done' } })
    expect(change.tally).toEqual({ from: null, to: null, durationMs: HOUR })
  })

  test('it goes to the oldest, or to the one that is named', () => {
    const open = [
      { ...awaited, scheduledFor: NOW + 2 * HOUR },
      { ...awaited, scheduledFor: NOW + HOUR },
    ]
    const found = snapshot(hourly, open, { options: { overlap: 'allow' } })
    expect(report(found, ok, context).remove).toEqual([2])
    const named = occurrenceId(found.alarm, found.timers[0]!)
    expect(report(found, { ...ok, occurrenceId: named }, context).remove).toEqual([1])
    expect(() => report(found, { ...ok, occurrenceId: 'another' }, context)).toThrow(
      expect.objectContaining({ code: 'not_found' }),
    )
  })

  test('the first one counts, while the delivery runs as later', () => {
    const reportedOnce = snapshot(once, [{ report: ok }], { inFlight: [1] })
    for (const again of [ok, bad])
      expect(() => report(reportedOnce, again, context)).toThrow('no occurrence of the alarm awaits a report')
  })

  test('it lets the queued occurrence go', () => {
    const queued = { wakeAt: null, waiting: 'overlap' as const, scheduledFor: NOW + 2 * HOUR }
    const change = report(snapshot(hourly, [awaited, queued], { options: { overlap: 'queue' } }), ok, context)
    expect(change).toMatchObject({ remove: [1], update: [{ id: 2, wakeAt: NOW + 2 * HOUR }] })
  })
})

test('early, while the delivery is under way, it is kept for the settle', () => {
  for (const reported of [ok, bad])
    expect(report(snapshot(once, [{}], { inFlight: [1] }), reported, context)).toEqual({
      markEdited: [1],
      reports: [{ id: 1, ...reported }],
    })
})

describe('late, after the time-out', () => {
  const timedOut = snapshot(once, [], {
    outcome: { status: 'timed_out', startedAt: NOW + HOUR, attempts: 1, failureCount: 1 },
  })

  test('it is kept, and the alarm is what it says', () => {
    expect(report(timedOut, ok, context)).toMatchObject({
      outcome: { status: 'completed', result: 'done', durationMs: HOUR, failureCount: 0 },
      events: [{ type: 'alarm.completed', data: { late: true } }],
      tally: { from: 'timed_out', to: 'completed', durationMs: HOUR },
    })
    expect(report(timedOut, bad, context)).toMatchObject({
      outcome: {
        status: 'failed',
        result: 'FAILED: broken (after 1 attempt)',
        completedAt: null,
        failureCount: 1,
      },
      events: [{ type: 'alarm.failed', data: { late: true } }],
      tally: { from: 'timed_out', to: 'failed' },
    })
  })

  test('it is kept for a recurring alarm, which goes on', () => {
    const overdue = { result: 'timeout_unknown', startedAt: NOW + HOUR, attempts: 1 }
    expect(report(snapshot(hourly, [{}], { outcome: overdue }), ok, context)).toMatchObject({
      outcome: { status: null, result: 'done', durationMs: HOUR },
      tally: { from: 'timed_out', to: null, durationMs: HOUR },
    })
  })

  test('it is refused where it names another occurrence', () => {
    const refused = (occurrenceId: string, code: string) =>
      expect(() => report(timedOut, { ...ok, occurrenceId }, context)).toThrow(
        expect.objectContaining({ code }),
      )
    for (const never of ['id-2-1', 'id-1', 'another-1-1']) refused(never, 'not_found')
    // It may have been reported before.
    refused('id-1-1', 'conflict')
    const occurrence = `1-${NOW + HOUR}`
    const found = { ...timedOut, timedOut: { occurrence, isNewest: true } }
    expect(report(found, { ...ok, occurrenceId: `id-${occurrence}` }, context)).toMatchObject({
      outcome: { status: 'completed' },
      restates: occurrence,
    })
  })

  test('about an older occurrence of a recurring alarm, it leaves the summary of the newest as it is', () => {
    const overdue = { result: 'timeout_unknown', startedAt: NOW + HOUR, attempts: 1 }
    const found = {
      ...snapshot(hourly, [{}], { outcome: overdue }),
      timedOut: { occurrence: '1-5', isNewest: false },
    }
    const change = report(found, { ...ok, occurrenceId: 'id-1-5' }, context)
    expect(change.outcome).toBeUndefined()
    expect(change).toMatchObject({
      events: [{ type: 'alarm.completed', data: { late: true, occurrence_id: 'id-1-5' } }],
      restates: '1-5',
      tally: { from: 'timed_out', to: null, durationMs: null },
    })
  })
})

describe('is refused', () => {
  test.each([
    ['before it fired', snapshot(once, [{}]), 'conflict'],
    ['while it waits for a retry', snapshot(once, [{ kind: 'retry' }]), 'conflict'],
    ['where it is paused', snapshot(once, [{}], { pausedAt: NOW }), 'conflict'],
    ['where no occurrence is open', snapshot(hourly, [{}]), 'conflict'],
    [
      'when its occurrence was reported with the text of a time-out',
      snapshot(hourly, [{}], { outcome: { result: 'timeout_unknown', completedAt: NOW + HOUR } }),
      'conflict',
    ],
    ['when it was completed', snapshot(once, [], { outcome: { status: 'completed' } }), 'already_ended'],
    ['when it was cancelled', snapshot(once, [], { outcome: { status: 'cancelled' } }), 'already_ended'],
    ['when it was fired', snapshot(once, [], { outcome: { status: 'fired' } }), 'already_ended'],
    ['when it failed', snapshot(once, [], { outcome: { status: 'failed' } }), 'already_ended'],
  ])('%s', (_, found, code) => {
    for (const reported of [ok, bad])
      expect(() => report(found, reported, context)).toThrow(expect.objectContaining({ code }))
  })
})
