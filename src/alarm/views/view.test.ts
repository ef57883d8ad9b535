import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rawJson } from '../../json/index.ts'
import { resolveWhen, type When } from '../../time/index.ts'

import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import { type Alarm, buildAlarm, firstTimer, NO_OUTCOME, type Outcome, type Timer } from '../model/index.ts'
import { viewOf, wireJson } from './view.ts'

const NOW = Date.UTC(2030, 0, 1)
const HOUR = 3_600_000

interface Changed {
  readonly alarm?: Partial<Alarm>
  readonly timers?: readonly Partial<Timer>[]
  readonly outcome?: Partial<Outcome>
}

function snapshot(when: When, options: SetOptions = {}, changed: Changed = {}) {
  const resolved = resolveWhen(when, { now: NOW, timezone: 'Europe/Rome' })
  const shop = {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: () => ({ kind: 'handler', name: 'remind', pool: 'app' }),
    newId: () => 'id-1',
  }
  const built = buildAlarm({ tenant: 't', owner: 'o' }, resolved, { target: 'remind', ...options }, NOW, shop)
  const row = { id: 1, shard: 1, version: 1, edited: false, report: null }
  return {
    alarm: { ...built, ...changed.alarm },
    timers: (changed.timers ?? [{}]).map((each) => ({
      ...firstTimer(built, resolved),
      ...row,
      ...each,
    })),
    outcome: changed.outcome === undefined ? null : { ...NO_OUTCOME, ...changed.outcome },
  }
}

const wire = (found: ReturnType<typeof snapshot>) =>
  JSON.parse(wireJson(viewOf(found))) as Record<string, unknown>

describe('an alarm on the wire', () => {
  test('has Chronos’s fields and Wakeful’s own, and leaves out what has no value', () => {
    expect(wire(snapshot({ delay: '1h' }))).toEqual({
      id: 'id-1',
      label: '',
      kind: 'once',
      timezone: 'Europe/Rome',
      next_fire_at: '2030-01-01T01:00:00.000Z',
      wake_message: '',
      status: 'active',
      max_failures: 5,
      failure_count: 0,
      created_at: '2030-01-01T00:00:00.000Z',
      fire_at: '2030-01-01T01:00:00.000Z',
      correlation_id: 'id-1',
      target: 'remind',
      ack: 'delivery',
      created_via: 'library',
      updated_at: '2030-01-01T00:00:00.000Z',
      registered_at: '2030-01-01T00:00:00.000Z',
    })
  })

  test('has everything it was given', () => {
    const options = {
      label: 'l',
      message: 'm',
      conversationId: 'c',
      key: 'k',
      idempotencyKey: 'i',
      subject: 's',
      correlationId: 'r',
      createdBy: 'ann',
      payload: { a: 1 },
    }
    expect(wire(snapshot({ cron: '@every 5m' }, options))).toMatchObject({
      kind: 'cron',
      cron_expr: '@every 5m',
      conversation_id: 'c',
      wake_message: 'm',
      idempotency_key: 'i',
      key: 'k',
      subject: 's',
      correlation_id: 'r',
      created_by: 'ann',
      payload: { a: 1 },
    })
    expect(wire(snapshot({ every: '90m' }))).toMatchObject({ kind: 'every', every: '90m' })
  })

  test('tells pool, overlap and priority where they are not as everybody expects', () => {
    const options = { ack: 'report', overlap: 'queue', priority: -3 } as const
    expect(wire(snapshot({ delay: '1h' }, options))).toMatchObject({ overlap: 'queue', priority: -3 })
    const targets = [
      ['handler', 'remind', 'app', undefined],
      ['handler', 'remind', 'cli', 'cli'],
      ['event', 'event', 'wakeful', undefined],
      ['webhook', 'https://example.com/', 'wakeful', undefined],
      ['handler', 'event', 'app', 'app'],
    ] as const
    for (const [kind, name, pool, visiblePool] of targets)
      expect(wire(snapshot({ delay: '1h' }, {}, { alarm: { target: { kind, name, pool } } })).pool).toBe(
        visiblePool,
      )
  })

  test('tells what the rule says beside its text', () => {
    const when = {
      cron: '0 9 25 * *',
      start: '2030-01-01T00:00Z',
      end: '2031-01-01T00:00Z',
      count: 9,
      jitter: '90s',
      misfire: { all: { max: 3 } },
      dst: { overlap: 'last' },
      exclude: { weekend: true, move: 'previous', offset: -1 },
    } as const
    expect(wire(snapshot(when)).when).toEqual({
      start: '2030-01-01T00:00:00.000Z',
      end: '2031-01-01T00:00:00.000Z',
      count: 9,
      jitter: '1m30s',
      misfire: { all: { max: 3, within: '1d' } },
      dst: { gap: 'shift', overlap: 'last' },
      exclude: { weekend: ['sat', 'sun'], move: 'previous', offset: -1 },
    })
    expect(wire(snapshot({ delay: '1h', misfire: 'skip' })).when).toEqual({ misfire: 'skip' })
    expect(wire(snapshot({ cron: '0 9 * * *' }))).not.toHaveProperty('when')
  })

  test.each(['fired', 'completed', 'failed', 'cancelled', 'timed_out'] as const)(
    'has no next_fire_at when %s',
    (status) => {
      const ended = wire(snapshot({ delay: '1h' }, {}, { timers: [], outcome: { status } }))
      expect(ended.status).toBe(status)
      expect(ended).not.toHaveProperty('next_fire_at')
    },
  )

  test('has no next_fire_at while it is paused or awaits its report', () => {
    const paused = snapshot(
      { every: '1h' },
      {},
      { alarm: { pausedAt: NOW }, timers: [{ wakeAt: null, waiting: 'paused' }] },
    )
    expect(wire(paused)).not.toHaveProperty('next_fire_at')
    const awaiting = snapshot({ delay: '1h' }, { ack: 'report' }, { timers: [{ kind: 'report' }] })
    expect(wire(awaiting)).toMatchObject({ status: 'fired' })
    expect(wire(awaiting)).not.toHaveProperty('next_fire_at')
  })

  test('shows what came of it', () => {
    const outcome = {
      status: 'failed' as const,
      startedAt: NOW + HOUR,
      lastFiredAt: NOW + HOUR,
      completedAt: NOW + HOUR + 5,
      durationMs: 5,
      result: 'FAILED: x (after 2 attempts)',
      lastError: 'x',
      failureCount: 2,
      attempts: 2,
    }
    expect(wire(snapshot({ delay: '1h' }, {}, { timers: [], outcome }))).toMatchObject({
      last_error: 'x',
      last_fired_at: '2030-01-01T01:00:00.000Z',
      started_at: '2030-01-01T01:00:00.000Z',
      completed_at: '2030-01-01T01:00:00.005Z',
      duration_ms: 5,
      attempts: 2,
      failure_count: 2,
      result: 'FAILED: x (after 2 attempts)',
    })
  })

  test('has the payload byte for byte, whatever the other fields say (verbatim)', () => {
    const raw = '{"b":1,"a":9007199254740993,"é":"\\u0000",  "f":1.0}'
    const text = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(
        text,
        text,
        fc.constantFrom(raw, '"payload":null'.replaceAll('"', '\\"').replace(/^|$/g, '"'), 'null'),
        (label, message, payload) => {
          const options = { label: `${label}"payload":null`, message, payload: rawJson(payload) }
          const json = wireJson(viewOf(snapshot({ delay: '1h' }, options)))
          expect(json).toContain(`"payload":${payload}`)
          expect(JSON.parse(json)).toMatchObject({ label: options.label, wake_message: message })
          expect(Object.keys(JSON.parse(json) as object).filter((name) => name === 'payload')).toHaveLength(1)
        },
      ),
    )
  })
})

describe('an alarm as users see it', () => {
  test('shows the retry’s time as the next one', () => {
    const retrying = snapshot({ delay: '1h' }, {}, { timers: [{ kind: 'retry', wakeAt: NOW + 2 * HOUR }] })
    expect(viewOf(retrying)).toMatchObject({
      status: 'active',
      nextFireAt: new Date(NOW + 2 * HOUR),
      fireAt: new Date(NOW + HOUR),
    })
  })

  test('shows the earliest of several, and none of an earlier generation or a report', () => {
    const timers = [
      { generation: 1, wakeAt: NOW },
      { generation: 2, kind: 'report' as const, wakeAt: NOW + 1 },
      { generation: 2, wakeAt: NOW + 3 * HOUR },
      { generation: 2, kind: 'retry' as const, wakeAt: NOW + 2 * HOUR },
    ]
    expect(viewOf(snapshot({ every: '1h' }, {}, { alarm: { generation: 2 }, timers })).nextFireAt).toEqual(
      new Date(NOW + 2 * HOUR),
    )
  })

  test.each(['handler', 'operator_pause'] as const)(
    'shows what waits for its %s as due since its instant',
    (waiting) => {
      const timers = [{ waiting, wakeAt: NOW + 5 * HOUR }]
      expect(viewOf(snapshot({ delay: '1h' }, {}, { timers })).nextFireAt).toEqual(new Date(NOW + HOUR))
    },
  )

  test('reads the payload, and shows a damaged one as the text it has become', () => {
    expect(viewOf(snapshot({ delay: '1h' }, { payload: { a: [1] } })).payload).toEqual({ a: [1] })
    expect(viewOf(snapshot({ delay: '1h' })).payload).toBeUndefined()
    expect(viewOf(snapshot({ delay: '1h' }, {}, { alarm: { payload: '{"a' } })).payload).toBe('{"a')
  })
})
