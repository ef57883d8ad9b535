import { expect, it } from 'vitest'
import { type Background, lateness, type WakeTimes } from './lateness.ts'

const DUE = Date.parse('2026-11-17T08:00:00.000Z')
const iso = (ms: number) => new Date(DUE + ms).toISOString()
const wake = (more: Partial<WakeTimes> = {}): WakeTimes => ({
  scheduled_for: iso(0),
  fired_at: iso(more.drift_ms ?? 12),
  drift_ms: 12,
  attempt: 1,
  tries: 1,
  ...more,
})
type Line = [number, string, string, { error?: string; reason?: string }?]
const background = (...story: Line[]): Background => ({
  createdAt: iso(-3_600_000),
  lastError: null,
  story: story.map(([at, type, text, data]) => ({ at: iso(at), type, text, ...data })),
})
const HOUR = 3_600_000
const late = wake({ drift_ms: HOUR })

it.for<[string, WakeTimes, Background | null, number, string]>([
  ['came in time', wake(), background(), 20, 'in time'],
  ['came in time, of an alarm that is gone', wake(), null, 20, 'in time'],
  [
    'lay in the inbox',
    wake(),
    background(),
    HOUR + 12,
    '1h late: it was in your inbox for 1h until you asked',
  ],
  [
    'is tried for the second time',
    wake({ attempt: 2, drift_ms: 5_000 }),
    background([10, 'alarm.attempt_failed', 'attempt 1 failed', { error: 'no tea' }]),
    5_010,
    '5s late: the first attempt failed: no tea',
  ],
  [
    'is tried for the fourth time',
    wake({ attempt: 4, drift_ms: 60_000 }),
    background(
      [10, 'alarm.attempt_failed', 'attempt 1 failed', { error: 'a' }],
      [20, 'alarm.attempt_failed', 'attempt 3 failed', { error: 'b; and; c' }],
      [90_000, 'alarm.attempt_failed', 'attempt 4 failed', { error: 'later' }],
    ),
    60_010,
    '1m late: 3 attempts failed before this one, the last: b; and; c',
  ],
  [
    'is tried again, and its story is cut off',
    wake({ attempt: 2, drift_ms: 5_000 }),
    { ...background(), lastError: 'the newest' },
    5_010,
    '5s late: the first attempt failed: the newest',
  ],
  [
    'is tried again, and nothing is known',
    wake({ attempt: 2, drift_ms: 5_000 }),
    null,
    5_010,
    '5s late: the first attempt failed',
  ],
  [
    'was paused',
    late,
    background([-10, 'alarm.paused', 'paused'], [HOUR - 5, 'alarm.resumed', 'resumed']),
    HOUR,
    `1h late: it was paused until ${iso(HOUR - 5)}`,
  ],
  [
    'was asked for again',
    late,
    background([HOUR - 5, 'alarm.rescheduled', 'asked to try again', { reason: 'retry' }]),
    HOUR,
    `1h late: it was asked to try again on ${iso(HOUR - 5)}`,
  ],
  [
    'was set too late',
    late,
    { ...background(), createdAt: iso(HOUR - 1) },
    HOUR,
    '1h late: its time had already passed when it was set',
  ],
  [
    'is what is left of many that were missed',
    late,
    background([HOUR - 1, 'alarm.skipped', '11 occurrences skipped (misfire)']),
    HOUR,
    '1h late: the service was down then, or behind (11 occurrences skipped (misfire))',
  ],
  [
    'waited for the one before it',
    late,
    background([HOUR - 1, 'alarm.completed', 'reported complete: ok']),
    HOUR,
    `1h late: the previous occurrence was open until ${iso(HOUR - 1)}`,
  ],
  [
    'met nobody at the clock',
    late,
    background([HOUR + 1, 'alarm.fired', 'delivered']),
    HOUR,
    '1h late: the service was down then, was catching up, or an operator had paused it',
  ],
])('says of a wake that %s', ([, input, known, nowMs, words]) => {
  expect(lateness(input, known, DUE + nowMs)).toBe(words)
})

it('warns that a wake was delivered before', () => {
  expect(lateness(wake({ tries: 2 }), background(), DUE + 60_000)).toMatch(
    /^1m late: it is handed out for the second time, because it was not acknowledged/,
  )
  expect(lateness(wake({ tries: 12, attempt: 2 }), background(), DUE + 60_000)).toMatch(
    /the first attempt failed; it is handed out for the 12th time/,
  )
})
