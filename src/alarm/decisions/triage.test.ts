import { describe, expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import { buildAlarm, FORCED_TICK, firstTimer, type Timer } from '../model/index.ts'
import { type TriageFacts, triage } from './triage.ts'

const NOW = Date.UTC(2030, 0, 1)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** No alarm keeps more open than this, whatever it allows. */
const MANY = 100
const FACTS: TriageFacts = { canRun: true, isPaused: false, openCount: 0 }
const at = (ms: number) => ({ now: NOW + ms, graceMs: 60_000, random: () => 0, newId: () => 'new' })

function due(when: When, options: SetOptions = {}, changed: Partial<Timer> = {}) {
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
  const alarm = buildAlarm({ tenant: 't', owner: 'o' }, resolved, { target: 'h', ...options }, NOW, shop)
  const row = { id: 1, shard: 1, version: 1, edited: false, report: null }
  const timer: Timer = { ...firstTimer(alarm, resolved), ...row, ...changed }
  return { alarm, timer, others: [timer] }
}

/** What a decision skips and fires, in short. */
function summaryOf(decision: ReturnType<typeof triage>) {
  if (decision.kind === 'needs_timers') return { kind: 'needs_timers' }
  const skipped = decision.change?.events?.find(({ type }) => type === 'alarm.skipped')?.data
  const fires = decision.kind === 'fire' ? decision.timer.scheduledFor - NOW : undefined
  const tick = decision.kind === 'fire' ? decision.timer.tick : undefined
  return {
    fires,
    tick,
    skipped: skipped && [skipped.reason, skipped.count],
    next: decision.kind === 'settle' ? (decision.change.update?.[0]?.wakeAt ?? null) : undefined,
    ends: decision.change?.status ?? decision.change?.outcome?.status,
  }
}

describe('an occurrence whose take was never answered', () => {
  const isOver = { fires: undefined, tick: undefined, next: null }
  test('is not delivered once its alarm was moved', () => {
    const loaded = due({ delay: '1m' })
    const moved = { ...loaded, alarm: { ...loaded.alarm, generation: 2 } }
    expect(summaryOf(triage(moved, FACTS, at(MINUTE)))).toEqual({ ...isOver, skipped: ['rescheduled', 1] })
  })

  test('is not delivered once its alarm was cancelled', () => {
    const loaded = due({ every: '1m' })
    const cancelled = { ...loaded, alarm: { ...loaded.alarm, cancelledAt: NOW } }
    const ends = 'cancelled'
    expect(summaryOf(triage(cancelled, FACTS, at(MINUTE)))).toEqual({
      ...isOver,
      skipped: ['cancelled', 1],
      ends,
    })
  })

  test('waits while its alarm is paused, unless it is fired by hand', () => {
    const loaded = due({ every: '1m' })
    const paused = { ...loaded, alarm: { ...loaded.alarm, pausedAt: NOW } }
    const decision = triage(paused, FACTS, at(MINUTE))
    expect(decision).toMatchObject({
      kind: 'settle',
      change: { update: [{ wakeAt: null, waiting: 'paused' }] },
    })
    const forced = { ...paused, timer: { ...loaded.timer, tick: FORCED_TICK } }
    expect(triage(forced, FACTS, at(MINUTE)).kind).toBe('fire')
  })

  test('is not tried again either', () => {
    const loaded = due({ delay: '1m' }, {}, { kind: 'retry', attempt: 2 })
    const moved = { ...loaded, alarm: { ...loaded.alarm, generation: 2 } }
    expect(summaryOf(triage(moved, FACTS, at(MINUTE)))).toEqual({ ...isOver, skipped: ['rescheduled', 1] })
  })
})

describe('a misfire', () => {
  const every10: When = { every: '10m' }
  const skip = { misfire: 'skip' } as const
  test.each<[string, When, number, object]>([
    ['on time', every10, 10 * MINUTE, { fires: 10 * MINUTE, tick: 1 }],
    ['within the grace', every10, 11 * MINUTE, { fires: 10 * MINUTE, tick: 1 }],
    ['late, but still the newest', every10, 19 * MINUTE, { fires: 10 * MINUTE, tick: 1 }],
    ['one missed', every10, 20 * MINUTE, { fires: 20 * MINUTE, tick: 2, skipped: ['misfire', 1] }],
    ['many missed', every10, 65 * MINUTE, { fires: 60 * MINUTE, tick: 6, skipped: ['misfire', 5] }],
    ['skip: on time', { every: '10m', ...skip }, 10 * MINUTE, { fires: 10 * MINUTE, tick: 1 }],
    [
      'skip: late',
      { every: '10m', ...skip },
      19 * MINUTE,
      { skipped: ['misfire', 1], next: NOW + 20 * MINUTE },
    ],
    [
      'skip: many',
      { every: '10m', ...skip },
      65 * MINUTE,
      { skipped: ['misfire', 6], next: NOW + 70 * MINUTE },
    ],
    ['cron', { cron: '*/10 * * * *' }, 65 * MINUTE, { fires: 60 * MINUTE, tick: 6, skipped: ['misfire', 5] }],
    [
      'count ends within the misses',
      { every: '10m', count: 3 },
      65 * MINUTE,
      { fires: 30 * MINUTE, tick: 3, skipped: ['misfire', 2] },
    ],
    [
      'skip: count ends within the misses',
      { every: '10m', count: 3, ...skip },
      65 * MINUTE,
      { skipped: ['misfire', 3], next: null, ends: 'completed' },
    ],
    [
      'the end comes within the misses',
      { every: '10m', end: new Date(NOW + 25 * MINUTE) },
      65 * MINUTE,
      { fires: 20 * MINUTE, tick: 2, skipped: ['misfire', 1] },
    ],
    ['once: fires, however late', { delay: '10m' }, 65 * MINUTE, { fires: 10 * MINUTE, tick: 1 }],
    ['once, skip: within the grace', { delay: '10m', ...skip }, 11 * MINUTE, { fires: 10 * MINUTE, tick: 1 }],
    [
      'once, skip: late',
      { delay: '10m', ...skip },
      12 * MINUTE,
      { skipped: ['misfire', 1], next: null, ends: 'failed' },
    ],
  ])('%s', (_, when, now, expected) => {
    expect(summaryOf(triage(due(when), FACTS, at(now)))).toEqual(expect.objectContaining(expected))
  })

  test('names the run it skipped by its first and last', () => {
    const decision = triage(due(every10), FACTS, at(65 * MINUTE))
    if (decision.kind !== 'fire') return expect.fail(decision.kind)
    expect(decision.change!.events![0]).toMatchObject({
      occurrence: `1-${NOW + 10 * MINUTE}`,
      data: { from: '2030-01-01T00:10:00.000Z', to: '2030-01-01T00:50:00.000Z', count: 5 },
    })
    expect(decision.timer.version).toBe(2)
  })

  test('counts a month of seconds exactly, by the calendar and by arithmetic', () => {
    const month = 30 * 24 * HOUR
    const seconds = triage(due({ cron: '* * * * * *' }), FACTS, at(month))
    expect(summaryOf(seconds).fires).toBe(month)
    expect(summaryOf(seconds).skipped).toEqual(['misfire', month / 1000 - 1])
    expect(summaryOf(triage(due({ every: '1s' }), FACTS, at(month))).skipped).toEqual([
      'misfire',
      month / 1000 - 1,
    ])
  })

  test.each(['paused', 'overlap', 'handler'] as const)(
    'is not what waited for a reason of its own (%s)',
    (waiting) => {
      expect(summaryOf(triage(due(every10, {}, { waiting }), FACTS, at(65 * MINUTE)))).toMatchObject({
        fires: 10 * MINUTE,
      })
    },
  )

  test.each(['retry', 'forced'] as const)('is not a %s', (kind) => {
    expect(summaryOf(triage(due(every10, {}, { kind }), FACTS, at(65 * MINUTE)))).toMatchObject({
      fires: 10 * MINUTE,
    })
  })
})

describe('an open occurrence', () => {
  const open = { ...FACTS, openCount: 1 }
  const reports = { ack: 'report' } as const
  test.each<[string, SetOptions, TriageFacts, object]>([
    ['skip', { ...reports, overlap: 'skip' }, open, { skipped: ['overlap', 1], next: NOW + 2 * HOUR }],
    ['queue', { ...reports, overlap: 'queue' }, open, { next: null }],
    ['allow', { ...reports, overlap: 'allow' }, open, { fires: HOUR }],
    ['skip, none open', { ...reports, overlap: 'skip' }, FACTS, { fires: HOUR }],
    ['skip, acknowledged by delivery', { overlap: 'skip' }, open, { fires: HOUR }],
    [
      'allow, too many open',
      { ...reports, overlap: 'allow' },
      { ...FACTS, openCount: MANY },
      { skipped: ['overlap', 1] },
    ],
    [
      'queue, too many open',
      { ...reports, overlap: 'queue' },
      { ...FACTS, openCount: MANY },
      { skipped: ['overlap', 1] },
    ],
  ])('%s', (_, options, facts, expected) => {
    expect(summaryOf(triage(due({ every: '1h' }, options), facts, at(HOUR)))).toEqual(
      expect.objectContaining(expected),
    )
  })

  test('parks what is queued until the open one ends', () => {
    const decision = triage(due({ every: '1h' }, { ...reports, overlap: 'queue' }), open, at(HOUR))
    expect(decision).toEqual({
      kind: 'settle',
      change: { update: [{ id: 1, wakeAt: null, waiting: 'overlap' }] },
    })
  })

  test('does not hold a retry or what was asked for by hand', () => {
    for (const kind of ['retry', 'forced'] as const)
      expect(triage(due({ every: '1h' }, reports, { kind }), open, at(HOUR)).kind).toBe('fire')
  })
})

describe('a handler that is not here', () => {
  test.each([
    [0, 5_000],
    [20_000, 20_000],
    [HOUR, 300_000],
  ])('is looked for again after %i ms of lateness in %i ms', (late, wait) => {
    const decision = triage(due({ delay: '1h' }), { ...FACTS, canRun: false }, at(HOUR + late))
    expect(decision).toEqual({
      kind: 'settle',
      change: { update: [{ id: 1, wakeAt: NOW + HOUR + late + wait, waiting: 'handler' }] },
    })
  })
})

test('a fire to the log is settled without a delivery', () => {
  const decision = triage(due({ delay: '1h' }, { target: 'log' }), { ...FACTS, canRun: false }, at(HOUR))
  expect(decision).toMatchObject({
    kind: 'settle',
    change: { remove: [1], events: [{ type: 'timer.due_time_reached' }] },
  })
})

test('a report that is overdue ends its occurrence as timed out', () => {
  const started = { kind: 'report' as const, startedAt: NOW + HOUR }
  const options = { ack: 'report' } as const
  expect(triage(due({ delay: '1h' }, options, started), FACTS, at(2 * HOUR))).toMatchObject({
    change: {
      remove: [1],
      outcome: { status: 'timed_out', result: 'timeout_unknown', startedAt: NOW + HOUR },
      tally: { from: 'fired', to: 'timed_out' },
      events: [{ type: 'alarm.timed_out' }],
    },
  })
  const recurring = triage(due({ every: '1h' }, options, started), FACTS, at(2 * HOUR))
  expect(recurring).toMatchObject({ change: { remove: [1], outcome: { status: null } } })
})

test('asks to look where the alarm may end with this, and its other timers are not known', () => {
  const last = { ...due({ every: '1h', count: 1, misfire: 'skip' }), others: null }
  expect(triage(last, FACTS, at(3 * HOUR)).kind).toBe('needs_timers')
})
