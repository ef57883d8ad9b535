import { describe, expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import { buildAlarm, FORCED_TICK, firstTimer, type Timer } from '../model/index.ts'
import { type TriageFacts, triage } from './triage.ts'

const NOW = Date.UTC(2030, 0, 1)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const PAUSED: TriageFacts = { canRun: true, isPaused: true, openCount: 0 }
const FREE: TriageFacts = { ...PAUSED, isPaused: false }
const at = (ms: number, random = 0) => ({
  now: NOW + ms,
  graceMs: 60_000,
  random: () => random,
  newId: () => 'new',
})

function due(when: When, options: SetOptions = {}, changed: Partial<Timer> = {}) {
  const resolved = resolveWhen(when, { now: NOW, timezone: 'UTC' })
  const alarm = buildAlarm({ tenant: 't', owner: 'o' }, resolved, { target: 'h', ...options }, NOW, {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: (spec) => ({ kind: spec === 'log' ? 'event' : 'handler', name: String(spec), pool: 'app' }),
    newId: () => 'id',
  })
  const row = { id: 1, shard: 1, version: 1, edited: false, report: null }
  const timer: Timer = { ...firstTimer(alarm, resolved), ...row, ...changed }
  return { alarm, timer, others: [timer] }
}

describe('what an operator holds', () => {
  test.each([
    ['an occurrence', {}, {}],
    ['one whose target is the log', { target: 'log' }, {}],
    ['another try', {}, { kind: 'retry', attempt: 2 }],
    ['a fire by hand', {}, { kind: 'forced', tick: FORCED_TICK }],
  ] as const)('waits, and nothing is written to the log: %s', (_, options, changed) => {
    const decision = triage(due({ delay: '1h' }, options, changed), PAUSED, at(HOUR))
    const change = { update: [{ id: 1, wakeAt: NOW + HOUR + MINUTE, waiting: 'operator_pause' }] }
    expect(decision).toEqual({ kind: 'settle', change })
  })

  test('is looked at ever less often, and not all of it in one moment', () => {
    const wakeAt = (late: number, random = 0) => {
      const decision = triage(due({ delay: '1h' }), PAUSED, at(HOUR + late, random))
      return decision.kind === 'settle' ? decision.change.update![0]!.wakeAt! - NOW - HOUR - late : null
    }
    expect([wakeAt(0), wakeAt(10 * MINUTE), wakeAt(100 * HOUR)]).toEqual([MINUTE, 10 * MINUTE, HOUR])
    expect(wakeAt(100 * HOUR, 0.5)).toBe(1.5 * HOUR)
  })

  test('still ends when its report is overdue, and is given up when its alarm was cancelled', () => {
    const report = due({ delay: '1h' }, { ack: 'report' }, { kind: 'report', startedAt: NOW })
    expect(triage(report, PAUSED, at(2 * HOUR))).toMatchObject({
      change: { outcome: { status: 'timed_out' } },
    })
    const loaded = due({ delay: '1h' })
    const cancelled = { ...loaded, alarm: { ...loaded.alarm, cancelledAt: NOW } }
    expect(triage(cancelled, PAUSED, at(HOUR))).toMatchObject({ change: { status: 'cancelled' } })
  })

  test('has what it missed judged when it is let go', () => {
    const hold = { waiting: 'operator_pause' } as const
    const skipped = triage(due({ delay: '1h', misfire: 'skip' }, {}, hold), FREE, at(2 * HOUR))
    expect(skipped).toMatchObject({ kind: 'settle', change: { events: [{ type: 'alarm.skipped' }] } })
    const newest = triage(due({ every: '1h' }, {}, hold), FREE, at(5 * HOUR))
    expect(newest).toMatchObject({ kind: 'fire', timer: { scheduledFor: NOW + 5 * HOUR } })
  })
})
