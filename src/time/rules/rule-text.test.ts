import { describe, expect, it } from 'vitest'
import { readRule } from './rule-text.ts'

const DAILY = { kind: 'cron', cron: '0 9 * * *', anchor: 1_700_000_000_000, timezone: 'Europe/Rome' } as const

describe('reading a stored rule', () => {
  it('reads rules that differ by their anchor alone as rules of their own', () => {
    for (const anchor of [1_700_000_000_000, 1_700_000_000_001, 0, 1_700_000_000_000]) {
      expect(readRule(JSON.stringify({ ...DAILY, anchor }))).toEqual({ ...DAILY, anchor })
    }
  })

  it('does not let a sound rule vouch for another', () => {
    const text = JSON.stringify(DAILY)
    expect(readRule(text)).toEqual(DAILY)
    for (const anchor of [
      '-5',
      '253402300800000',
      '1.5',
      '"1700000000000"',
      'null',
      '1e3000',
      '99999999999999999',
    ])
      expect(readRule(text.replace('1700000000000', anchor)), anchor).toBeNull()
    expect(readRule(text.replace('"anchor":1700000000000,', ''))).toBeNull()
    expect(readRule(text.replace('Europe/Rome', 'Europe/Rom'))).toBeNull()
    expect(readRule(text.replace('"kind"', '"newer":true,"kind"'))).toBeNull()
    expect(() => readRule(text.replace('1700000000000', '01700000000000'))).toThrow(SyntaxError)
    expect(() => readRule(text.replace('1700000000000', ''))).toThrow(SyntaxError)
  })

  it('takes the last of two anchors, as JSON does', () => {
    const twice = (first: number) => JSON.stringify(DAILY).replace('{', `{"anchor":${first},`)
    expect(readRule(twice(1))).toEqual(DAILY)
    expect(readRule(twice(2))).toEqual(DAILY)
    expect(readRule(twice(1_700_000_000_000))).toEqual(DAILY)
    expect(readRule(twice(3))).toEqual(DAILY)
  })

  it('is not misled by texts inside the rule', () => {
    const cron = '"anchor":7 9 * * *'
    expect(readRule(JSON.stringify({ ...DAILY, cron }))).toBeNull()
    const once = { kind: 'once', at: 5, timezone: 'UTC' }
    expect(readRule(JSON.stringify(once))).toEqual(once)
  })
})
