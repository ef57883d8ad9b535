import { expect, it } from 'vitest'
import { jitter, wakeTime } from './jitter.ts'
import type { Rule } from './rule.ts'

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
