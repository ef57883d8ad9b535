import { describe, expect, it } from 'vitest'
import { resolveWhen, type When } from '../when/index.ts'
import type { Rule } from './rule.ts'
import { applyZoneData, jitter, wakeTime, zoneOffsetOf } from './wake-time.ts'

describe('jitter', () => {
  const rule: Rule = { kind: 'cron', cron: '0 * * * *', anchor: 0, timezone: 'UTC', jitterMs: 300_000 }
  const noon = Date.parse('2026-03-04T12:00:00Z')

  it('is the same in every process and at any time', () => {
    expect(jitter(rule, 'alarm-1', noon)).toBe(jitter({ ...rule }, 'alarm-1', noon))
    // Literal values, because a new version must not move existing alarms.
    expect([jitter(rule, 'alarm-1', noon), jitter(rule, 'alarm-2', noon)]).toEqual([130_207, 99_683])
  })

  it('is zero for rules without jitter', () => {
    const { jitterMs, ...plain } = rule
    expect(wakeTime(plain, 'alarm-1', noon)).toBe(noon)
    expect(wakeTime({ kind: 'once', at: noon, timezone: 'UTC' }, 'alarm-1', noon)).toBe(noon)
  })

  it('is spread evenly from zero to its maximum, over alarms and occurrences', () => {
    for (const at of [
      (index: number) => jitter(rule, `alarm-${index}`, noon),
      (index: number) => jitter(rule, 'alarm-1', noon + index * 3_600_000),
    ]) {
      const tenths = new Array<number>(10).fill(0)
      for (let index = 0; index < 20_000; index++) {
        const delay = at(index)
        expect(Number.isInteger(delay) && delay >= 0 && delay <= 300_000).toBe(true)
        const tenth = Math.min(9, Math.floor(delay / 30_000))
        tenths[tenth] = tenths[tenth]! + 1
      }
      for (const count of tenths) expect(Math.abs(count - 2000)).toBeLessThan(200)
    }
    const shortest = Array.from({ length: 200 }, (_, index) =>
      jitter({ ...rule, jitterMs: 1 }, `${index}`, noon),
    )
    expect(new Set(shortest)).toEqual(new Set([0, 1]))
  })
})

const HOUR = 3_600_000
const now = Date.parse('2026-06-01T00:00:00Z')

/** Where an instant moves that older data had placed this many hours from today's data. */
function moved(when: When, hoursOff: number): string {
  const { rule, first } = resolveWhen(when, { now, timezone: 'Europe/Rome' })
  const offset = zoneOffsetOf(rule, first)
  if (offset === null) return 'stays'
  return new Date(applyZoneData(rule, first + hoursOff * HOUR, offset - hoursOff * HOUR)).toISOString()
}

describe('an instant that was computed with older zone data', () => {
  it.each<[When, string]>([
    [{ cron: '0 9 * * *' }, '2026-06-01T07:00:00.000Z'],
    [{ rrule: 'DTSTART;TZID=Europe/Rome:20260601T090000\nRRULE:FREQ=WEEKLY' }, '2026-06-01T07:00:00.000Z'],
    [{ every: '1 month', start: '2026-06-02T09:00' }, '2026-06-02T07:00:00.000Z'],
    ['2026-06-02 09:00', '2026-06-02T07:00:00.000Z'],
    ['tomorrow at 9am', '2026-06-02T07:00:00.000Z'],
    ['every weekday at 9am', '2026-06-01T07:00:00.000Z'],
  ])('%j moves to the same wall time, from an hour later and from an hour earlier', (when, expected) => {
    expect([moved(when, 1), moved(when, -1)]).toEqual([expected, expected])
  })

  it.each<When>([
    { every: '24h' },
    { delay: '3h' },
    '2026-06-02T09:00:00+02:00',
    { cron: '@every 5m' },
    'in 3 hours',
  ])('%j does not depend on the wall clock', (when) => expect(moved(when, 1)).toBe('stays'))

  it('keeps the real spacing of an interval', () => {
    const { rule, first } = resolveWhen({ cron: '*/15 * * * *' }, { now, timezone: 'Europe/Rome' })
    expect(applyZoneData(rule, first, zoneOffsetOf(rule, first)! - HOUR)).toBe(first)
  })

  it('stays if the data have not changed', () => {
    const { rule, first } = resolveWhen({ cron: '0 9 * * *' }, { now, timezone: 'Europe/Rome' })
    expect(applyZoneData(rule, first, zoneOffsetOf(rule, first)!)).toBe(first)
  })

  it('returns to the time as written if a gap is gone', () => {
    // Older data had a change forward that night in Tokyo, so 02:30 was shifted to 03:30 with the new offset.
    const { rule } = resolveWhen({ cron: '30 2 * * *' }, { now, timezone: 'Asia/Tokyo' })
    const placed = Date.parse('2026-06-02T03:30:00+10:00')
    expect(new Date(applyZoneData(rule, placed, 10 * HOUR)).toISOString()).toBe('2026-06-01T17:30:00.000Z')
  })
})
