import { describe, expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import {
  type Alarm,
  buildAlarm,
  firstTimer,
  NO_OUTCOME,
  type Outcome,
  type Snapshot,
  type Timer,
} from '../model/index.ts'
import { isSameDefinition } from './definition.ts'
import { setAgain } from './set-again.ts'

const NOW = Date.UTC(2030, 0, 1)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const every10: When = { every: '10m' }
const at = (ms: number) => ({ now: NOW + ms, graceMs: MINUTE, random: () => 0, newId: () => 'new' })

let ids = 0
const shop = {
  limits: DEFAULT_LIMITS,
  defaults: DEFAULTS,
  target: (spec: unknown) => ({
    kind: spec === 'event' ? 'event' : 'handler',
    name: String(spec),
    pool: 'app',
  }),
  newId: () => `id-${++ids}`,
}

/** The set that a program repeats at every start. */
function asked(when: When, options: SetOptions = {}, ms = 0, fields: Partial<Alarm> = {}) {
  const resolved = resolveWhen(when, { now: NOW + ms, timezone: 'UTC' })
  const target = { target: 'h', key: 'k', ...options }
  const built = buildAlarm({ tenant: 't', owner: 'o' }, resolved, target, NOW + ms, shop)
  return { alarm: { ...built, ...fields }, first: resolved.first, nominal: resolved.nominal }
}

interface Found {
  readonly alarm?: Partial<Alarm>
  readonly timer?: Partial<Timer>
  readonly more?: readonly Partial<Timer>[]
  readonly inFlight?: readonly number[]
  readonly outcome?: Snapshot['outcome']
}

function stored(when: When, options: SetOptions = {}, found: Found = {}): Snapshot {
  const { alarm, first, nominal } = asked(when, options)
  const row = { id: 1, shard: 1, version: 1, edited: false, report: null }
  const timer: Timer = { ...firstTimer(alarm, { first, nominal }), ...row, ...found.timer }
  const more = (found.more ?? []).map((each, i) => ({ ...timer, id: 2 + i, ...each }))
  return {
    // As a store returns it: read from JSON.
    alarm: JSON.parse(JSON.stringify({ ...alarm, ...found.alarm })),
    timers: found.outcome?.status == null ? [timer, ...more] : [],
    outcome: found.outcome ?? null,
    inFlight: new Set(found.inFlight),
  }
}

const parked = { wakeAt: null, waiting: 'paused' as const }
const CANCELLED: Outcome = { ...NO_OUTCOME, status: 'cancelled' }
const COMPLETED: Outcome = { ...NO_OUTCOME, status: 'completed' }
const UNCHANGED = { change: {}, outcome: 'unchanged' }

test('the order of members counts in the body of a webhook, and nowhere else', () => {
  const target = (config: Readonly<Record<string, unknown>>) => ({
    target: { kind: 'webhook', name: 'u', pool: 'wakeful', config },
  })
  const outcomeOf = (before: Readonly<Record<string, unknown>>, after: typeof before) => {
    const found = stored(every10, {}, { alarm: target(before) })
    return setAgain(found, asked(every10, {}, 0, target(after)), at(0)).outcome
  }
  expect(outcomeOf({ body: { a: 1, b: { c: 1, d: 2 } } }, { body: { a: 1, b: { d: 2, c: 1 } } })).toBe(
    'replaced',
  )
  expect(outcomeOf({ body: { a: 1 }, method: 'PUT' }, { method: 'PUT', body: { a: 1 } })).toBe('unchanged')
})

describe('a set with the same definition changes nothing', () => {
  const cron: When = {
    cron: '0 9 * * 1-5',
    timezone: 'Europe/Rome',
    misfire: { all: { max: 5 } },
    jitter: '5s',
  }
  test.each<[string, When, SetOptions]>([
    ['an interval without a start', every10, {}],
    ['an interval with a start', { every: '1h', start: new Date(NOW + HOUR) }, {}],
    ['a nickname of cron that counts from the set', { cron: '@every 5m' }, {}],
    ['a cron with options', cron, {}],
    ['an rrule', { rrule: 'FREQ=DAILY;BYHOUR=9' }, {}],
    ['days off', { cron: '0 9 * * *', exclude: 'weekends' }, {}],
    ['an instant', new Date(NOW + 5 * HOUR), {}],
    ['a local time', { at: '2030-06-01T09:00', timezone: 'Europe/Rome' }, {}],
    [
      'many options',
      every10,
      { payload: { a: 1 }, maxFailures: 3, backoff: { baseMs: 1 }, timeout: '9s', onFailure: 'x' },
    ],
  ])('%s', (_, when, options) => {
    expect(setAgain(stored(when, options), asked(when, options, 3 * HOUR), at(3 * HOUR))).toEqual(UNCHANGED)
  })

  test.each<[string, SetOptions, SetOptions]>([
    ['who set it', { createdBy: 'ann' }, { createdBy: 'bob', createdVia: 'cli' }],
    ['a trace', {}, { traceparent: TRACE }],
    ['an idempotency key', { idempotencyKey: 'i' }, {}],
    ['a correlation id that is not given', { correlationId: 'c' }, {}],
  ])('%s is no part of it', (_, before, after) => {
    expect(setAgain(stored(every10, before), asked(every10, after), at(0))).toEqual(UNCHANGED)
  })

  test.each<[string, Found]>([
    ['in flight', { inFlight: [1] }],
    ['retried', { more: [{ kind: 'retry', attempt: 1 }] }],
    ['waiting for its handler', { timer: { waiting: 'handler', wakeAt: NOW + 2 * HOUR } }],
    ['paused', { alarm: { pausedAt: NOW }, timer: parked }],
  ])('one that is %s', (_, found) => {
    expect(setAgain(stored(every10, {}, found), asked(every10), at(2 * HOUR))).toEqual(UNCHANGED)
  })

  test('ends a pause only if it says so', () => {
    const found = stored(every10, {}, { alarm: { pausedAt: NOW }, timer: parked })
    const { change, outcome } = setAgain(found, { ...asked(every10), resumes: true }, at(25 * MINUTE))
    expect(outcome).toBe('replaced')
    expect(change).toMatchObject({ alarm: { pausedAt: null, generation: 1 } })
    expect(change.update).toMatchObject([{ scheduledFor: NOW + 30 * MINUTE, waiting: null }])
  })
})

describe('a set with another definition', () => {
  test.each<[string, When, When]>([
    ['a delay, which is another instant', { delay: '1h' }, { delay: '1h' }],
    ['another cron', { cron: '0 9 * * *' }, { cron: '0 8 * * *' }],
    ['another zone', { cron: '0 9 * * *', timezone: 'UTC' }, { cron: '0 9 * * *', timezone: 'Asia/Tokyo' }],
    ['another start', { every: '1h', start: new Date(NOW) }, { every: '1h', start: new Date(NOW + 1) }],
    ['a start that was not given', every10, { every: '10m', start: new Date(NOW) }],
    ['another misfire policy', every10, { every: '10m', misfire: 'skip' }],
    ['another count', every10, { every: '10m', count: 2 }],
  ])('moves: %s', (_, when, then) => {
    const { change, outcome } = setAgain(stored(when), asked(then, {}, 1), at(1))
    expect(outcome).toBe('replaced')
    expect(change).toMatchObject({ alarm: { generation: 2 }, remove: [1], outcome: null })
  })

  test.each<[string, SetOptions, SetOptions]>([
    ['another payload', { payload: { a: 1 } }, { payload: { a: 2 } }],
    ['a payload in another order', { payload: { a: 1, b: 2 } }, { payload: { b: 2, a: 1 } }],
    ['another target', {}, { target: 'other' }],
    ['another label', { label: 'a' }, {}],
    ['a correlation id that is given', {}, { correlationId: 'c' }],
    ['fewer attempts', {}, { maxFailures: 1 }],
  ])('goes on with the same rule: %s', (_, options, more) => {
    for (const when of [every10, 'monthly', new Date(NOW + HOUR)]) {
      const found = stored(when, options, { alarm: { declaredBy: 'list' } })
      const { change, outcome } = setAgain(found, asked(when, more, 1), at(1))
      expect(outcome).toBe('replaced')
      expect(change).toEqual({ alarm: change.alarm, update: [], markEdited: [] })
      const { id, createdAt, generation, rule } = found.alarm
      expect(change.alarm).toMatchObject({ id, createdAt, generation, rule, declaredBy: null })
      const wanted = asked(when, { ...more, correlationId: change.alarm!.correlationId }).alarm
      expect(isSameDefinition(change.alarm!, wanted)).toBe(true)
    }
  })

  test('goes on with the same rule, and ends a pause if it says so', () => {
    const found = stored(every10, {}, { alarm: { pausedAt: NOW }, timer: parked })
    const wanted = asked(every10, { label: 'new' })
    expect(setAgain(found, wanted, at(0)).change.alarm).toMatchObject({ label: 'new', pausedAt: NOW })
    const { change } = setAgain(found, { ...wanted, resumes: true }, at(25 * MINUTE))
    expect(change).toMatchObject({ alarm: { label: 'new', pausedAt: null, generation: 1 } })
    expect(change.update).toMatchObject([{ scheduledFor: NOW + 30 * MINUTE, waiting: null }])
  })

  test.each<[string, Found]>([
    ['in flight', { inFlight: [1] }],
    ['attempted', { more: [{ kind: 'retry', attempt: 1 }], outcome: { ...NO_OUTCOME, failureCount: 1 } }],
  ])('a one-shot that is %s starts over, to deliver what is set', (_, found) => {
    const when = new Date(NOW + HOUR)
    const { change } = setAgain(stored(when, {}, found), asked(when, { label: 'new' }), at(HOUR))
    expect(change.alarm).toMatchObject({ generation: 2, label: 'new' })
  })

  test('has its own correlation id, which is the alarm’s if none is given', () => {
    const found = stored(every10, { correlationId: 'c' })
    const correlationOf = (options: SetOptions) =>
      setAgain(found, asked(every10, { label: 'x', ...options }), at(0)).change.alarm!.correlationId
    expect(correlationOf({})).toBe(found.alarm.id)
    expect(correlationOf({ correlationId: 'd' })).toBe('d')
  })

  /** What a change at this time leaves to fire, and what it records. */
  function changedAt(
    ms: number,
    when: When,
    { options = {}, found = {}, next = { every: '1h' } as When } = {},
  ) {
    const { change } = setAgain(
      stored(when, options, found),
      asked(next, { ...options, label: 'new' }, ms),
      at(ms),
    )
    const minutes = (text: unknown) => (Date.parse(String(text)) - NOW) / MINUTE
    const recorded = change.events!.flatMap(({ type, data }) => {
      if (type === 'alarm.rescheduled') return []
      if (type !== 'alarm.skipped') return [[type, minutes(data.scheduled_for)]]
      return [[data.reason, minutes(data.from), minutes(data.to), data.count]]
    })
    const owed = change.add!.slice(0, -1).map(({ scheduledFor }) => (scheduledFor - NOW) / MINUTE)
    return { owed, recorded, add: change.add! }
  }

  test.each<[string, When, number[], unknown[]]>([
    ['nothing', { every: '2h' }, [], []],
    ['the newest, once', every10, [30], [['misfire', 10, 20, 2]]],
    ['none, skip', { every: '10m', misfire: 'skip' }, [], [['misfire', 10, 30, 3]]],
    ['all', { every: '10m', misfire: 'all' }, [10, 20, 30], []],
    ['all, at most two', { every: '10m', misfire: { all: { max: 2 } } }, [20, 30], [['misfire', 10, 10, 1]]],
    [
      'all within 20 minutes',
      { every: '10m', misfire: { all: { within: '20m' } } },
      [20, 30],
      [['misfire', 10, 10, 1]],
    ],
  ])('first settles what was due: %s', (_, when, owed, recorded) => {
    expect(changedAt(35 * MINUTE, when)).toMatchObject({ owed, recorded })
  })

  test('fires what is due within the grace, whatever the policy', () => {
    const { owed, recorded, add } = changedAt(10 * MINUTE + 30_000, { every: '10m', misfire: 'skip' })
    expect([owed, recorded]).toEqual([[10], []])
    expect(add[0]).toMatchObject({
      kind: 'retry',
      attempt: 0,
      generation: 2,
      wakeAt: NOW + 10 * MINUTE + 30_000,
    })
  })

  test('records what was due of an alarm whose target is the log', () => {
    const { owed, recorded } = changedAt(
      25 * MINUTE,
      { every: '10m', misfire: 'all' },
      { options: { target: 'event' } },
    )
    expect([owed, recorded]).toEqual([[], [['schedule.ticked', 10], ['schedule.ticked', 20]]]) // biome-ignore format: pairs
  })

  test('fires what waits for its handler, and then what came due since', () => {
    const found = { timer: { waiting: 'handler' as const, wakeAt: NOW + 40 * MINUTE } }
    const { owed, recorded } = changedAt(35 * MINUTE, every10, { found })
    expect([owed, recorded]).toEqual([[10, 30], [['misfire', 20, 20, 1]]])
  })

  test('records what passed while it was paused', () => {
    const found = { alarm: { pausedAt: NOW }, timer: parked }
    const { owed, recorded, add } = changedAt(35 * MINUTE, every10, { found })
    expect([owed, recorded]).toEqual([[], [['paused', 10, 30, 3]]])
    expect(add).toMatchObject([{ ...parked, scheduledFor: NOW + 95 * MINUTE }])
  })

  test('records days off that passed', () => {
    // 2030-01-05 and 06 are a weekend; the next instant is Monday's.
    const rule: When = { cron: '0 9 * * *', exclude: 'weekends' }
    const friday = stored(rule, {}, {})
    const due = {
      ...friday.timers[0]!,
      scheduledFor: Date.UTC(2030, 0, 7, 9),
      nominal: Date.UTC(2030, 0, 5, 9),
    }
    const then = Date.UTC(2030, 0, 6, 12)
    const { change } = setAgain({ ...friday, timers: [due] }, asked(every10, {}, then - NOW), at(then - NOW))
    expect(change.events![0]!.data).toMatchObject({ reason: 'holiday', count: 2 })
  })

  test('records days off that passed after the last instant of a pause', () => {
    // Paused since Thursday: Thursday's and Friday's instants were skipped by the pause, the weekend's by the calendar.
    const rule: When = { cron: '0 9 * * *', exclude: 'weekends' }
    const found = stored(rule, {}, { alarm: { pausedAt: NOW }, timer: parked })
    const due = { ...found.timers[0]!, scheduledFor: Date.UTC(2030, 0, 3, 9), nominal: null }
    const then = Date.UTC(2030, 0, 6, 12)
    const { change } = setAgain({ ...found, timers: [due] }, asked(every10, {}, then - NOW), at(then - NOW))
    expect(change.events!.slice(0, 2).map(({ data }) => data)).toMatchObject([
      { reason: 'paused', count: 2 },
      { reason: 'holiday', count: 2, from: '2030-01-05T09:00:00.000Z' },
    ])
  })

  test('fires one at a time where an earlier one must have ended, and records the rest', () => {
    const due: When = { every: '10m', misfire: 'all' }
    for (const [overlap, reason] of [
      ['skip', 'overlap'],
      ['queue', 'rescheduled'],
    ] as const) {
      // biome-ignore format: pairs
      const { owed, recorded } = changedAt(25 * MINUTE, due, { options: { ack: 'report', overlap } })
      expect([owed, recorded]).toEqual([[10], [[reason, 20, 20, 1]]])
    }
    const { owed } = changedAt(25 * MINUTE, due, { options: { ack: 'report', overlap: 'allow' } })
    expect(owed).toEqual([10, 20])
  })

  test('leaves at most a thousand to fire', () => {
    const { owed, recorded } = changedAt(2 * HOUR, { every: '1s', misfire: { all: { max: 100_000 } } })
    expect([owed.length, recorded]).toEqual([1_000, [['misfire', 1001 / 60, 120, 6_200]]])
  })

  test('keeps what an earlier change left to fire, and what a user fires by hand', () => {
    const more = [
      { kind: 'retry' as const, scheduledFor: NOW - HOUR, attempt: 0 },
      { kind: 'forced' as const, scheduledFor: NOW - 1, tick: 0 },
      { kind: 'retry' as const, scheduledFor: NOW - 2 * HOUR, attempt: 1, startedAt: NOW - HOUR },
    ]
    const { add, recorded } = changedAt(MINUTE, every10, { found: { more } })
    expect(add).toMatchObject([
      { kind: 'retry', scheduledFor: NOW - HOUR, generation: 2 },
      { kind: 'forced', scheduledFor: NOW - 1, generation: 2, tick: 0 },
      { kind: 'due' },
    ])
    expect(recorded).toEqual([['rescheduled', -120, -120, 1]])
  })

  test('records what was due as skipped if the alarm becomes a one-shot, whose end is the end of the alarm', () => {
    const { owed, recorded } = changedAt(
      25 * MINUTE,
      { every: '10m', misfire: 'all' },
      { next: new Date(NOW + HOUR) },
    )
    expect([owed, recorded]).toEqual([[], [['rescheduled', 10, 10, 1], ['rescheduled', 20, 20, 1]]]) // biome-ignore format: pairs
  })

  test('leaves what is in flight to its settle, and settles what came due after it', () => {
    const found = { inFlight: [1] }
    expect(changedAt(15 * MINUTE, every10, { found })).toMatchObject({ owed: [], recorded: [] })
    const { owed, recorded } = changedAt(45 * MINUTE, every10, { found })
    expect([owed, recorded]).toEqual([[40], [['misfire', 20, 30, 2]]])
  })

  test('settles nothing of a one-shot', () => {
    const { owed, recorded } = changedAt(2 * HOUR, new Date(NOW + HOUR))
    expect([owed, recorded]).toEqual([[], []])
  })
})

describe('one that has ended', () => {
  const instant = new Date(NOW + HOUR)

  test('starts afresh when it is set again', () => {
    for (const when of [instant, every10]) {
      const { change, outcome } = setAgain(stored(when, {}, { outcome: CANCELLED }), asked(when), at(0))
      expect([outcome, change.alarm!.generation, change.tally!.to]).toEqual(['restarted', 2, 'pending'])
    }
    const firing = stored(every10, {}, { alarm: { cancelledAt: NOW, pausedAt: NOW }, inFlight: [1] })
    expect(setAgain(firing, asked(every10), at(0)).change.alarm).toMatchObject({
      cancelledAt: null,
      pausedAt: null,
    })
  })

  test('stays ended when a list declares a one-shot of the same instant, or a rule that has run out', () => {
    const declared = (when: When, options: SetOptions = {}) =>
      asked(when, options, 0, { declaredBy: 'default' })
    const ended = (when: When, outcome = COMPLETED) => stored(when, {}, { outcome })
    const kept = setAgain(ended(instant), declared(instant, { label: 'new' }), at(0))
    // It is declared from now on, so that retention keeps it.
    expect(kept).toMatchObject({
      outcome: 'unchanged',
      change: { alarm: { declaredBy: 'default', label: '' } },
    })
    expect(setAgain(ended(instant), declared(new Date(NOW + 2 * HOUR)), at(0)).outcome).toBe('restarted')
    const counted: When = { every: '10m', count: 2 }
    expect(setAgain(ended(counted), declared(counted), at(0)).outcome).toBe('unchanged')
    expect(setAgain(ended(counted), declared(every10), at(0)).outcome).toBe('restarted')
    expect(setAgain(ended(every10, CANCELLED), declared(every10), at(0)).outcome).toBe('restarted')
  })
})

test('a changed time zone is noted, because a program that names none has that of its machine', () => {
  const when: When = { cron: '0 9 * * *' }
  const before = stored(when)
  const inZone = (timezone: string) => setAgain(before, asked({ ...when, timezone }), at(0))
  expect(inZone('UTC').outcome).toBe('unchanged')
  const { outcome, change } = inZone('Europe/Rome')
  expect(outcome).toBe('replaced')
  expect(change.alarm?.notes).toEqual(['the time zone was UTC before this set, and is Europe/Rome now'])
  // As another process with this zone finds it.
  const moved = { ...before, alarm: JSON.parse(JSON.stringify(change.alarm)) as Alarm }
  expect(setAgain(moved, asked({ ...when, timezone: 'Europe/Rome' }), at(0)).change).toEqual({})
})
