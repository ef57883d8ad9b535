import { describe, expect, it } from 'vitest'
import { parseRule } from './rule.ts'

const DAILY = { kind: 'cron', cron: '0 9 * * *', anchor: 1_700_000_000_000, timezone: 'Europe/Rome' } as const

describe('parseRule', () => {
  it('keeps rules apart that differ only in their anchor', () => {
    for (const anchor of [1_700_000_000_000, 1_700_000_000_001, 0, 1_700_000_000_000]) {
      expect(parseRule(JSON.stringify({ ...DAILY, anchor }))).toEqual({ ...DAILY, anchor })
    }
  })

  it('does not accept an invalid rule because of a cached one', () => {
    const text = JSON.stringify(DAILY)
    expect(parseRule(text)).toEqual(DAILY)
    for (const anchor of [
      '-5',
      '253402300800000',
      '1.5',
      '"1700000000000"',
      'null',
      '1e3000',
      '99999999999999999',
    ])
      expect(parseRule(text.replace('1700000000000', anchor)), anchor).toBeNull()
    expect(parseRule(text.replace('"anchor":1700000000000,', ''))).toBeNull()
    expect(parseRule(text.replace('Europe/Rome', 'Europe/Rom'))).toBeNull()
    expect(parseRule(text.replace('"kind"', '"newer":true,"kind"'))).toBeNull()
    expect(() => parseRule(text.replace('1700000000000', '01700000000000'))).toThrow(SyntaxError)
    expect(() => parseRule(text.replace('1700000000000', ''))).toThrow(SyntaxError)
  })

  it('uses the last of two anchors, as JSON does', () => {
    const twice = (first: number) => JSON.stringify(DAILY).replace('{', `{"anchor":${first},`)
    expect(parseRule(twice(1))).toEqual(DAILY)
    expect(parseRule(twice(2))).toEqual(DAILY)
    expect(parseRule(twice(1_700_000_000_000))).toEqual(DAILY)
    expect(parseRule(twice(3))).toEqual(DAILY)
  })

  it('is not misled by texts inside the rule', () => {
    const cron = '"anchor":7 9 * * *'
    expect(parseRule(JSON.stringify({ ...DAILY, cron }))).toBeNull()
    const once = { kind: 'once', at: 5, timezone: 'UTC' }
    expect(parseRule(JSON.stringify(once))).toEqual(once)
  })
})
