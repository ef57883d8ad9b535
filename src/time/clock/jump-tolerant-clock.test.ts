import { describe, expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { JumpTolerantClock } from './jump-tolerant-clock.ts'

const T0 = Date.UTC(2026, 10, 15)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** A clock whose wall and monotonic time the test sets. */
function manualClock(wall = T0) {
  const at = { wall, monotonic: 1000 }
  const clock: Clock = {
    now: () => at.wall,
    monotonic: () => at.monotonic,
    setTimer: () => () => {},
    turn: () => Promise.resolve(),
  }
  const messages: string[] = []
  const pass = (ms: number) => {
    at.wall += ms
    at.monotonic += ms
  }
  return {
    at,
    pass,
    messages,
    clock,
    tolerant: new JumpTolerantClock(clock, (message) => messages.push(message)),
  }
}

describe('a running clock', () => {
  test.each([HOUR, -HOUR, DAY, -DAY, 300 * DAY, -300 * DAY])('follows a step by %d ms', (step) => {
    const { at, pass, messages, tolerant } = manualClock()
    pass(HOUR)
    at.wall += step
    expect(tolerant.now()).toBe(T0 + HOUR + step)
    expect(messages).toEqual([])
  })

  test.each([72 * YEAR, -50 * YEAR, YEAR + 1, -YEAR - 1])('distrusts a step by %d ms', (step) => {
    const { at, pass, messages, tolerant } = manualClock()
    pass(HOUR)
    expect(tolerant.now()).toBe(T0 + HOUR)
    at.wall += step
    pass(5 * DAY)
    expect(tolerant.now()).toBe(T0 + HOUR + 5 * DAY)
    expect(messages).toHaveLength(1)
    expect(messages[0]).toContain('not trusted')
    at.wall -= step
    expect(tolerant.now()).toBe(T0 + HOUR + 5 * DAY)
    expect(messages[1]).toContain('trusted again')
  })

  test('reports again every hour, and trusts the clock again once it is within a year', () => {
    const { at, pass, messages, tolerant } = manualClock()
    at.wall += 40 * YEAR
    tolerant.now()
    pass(HOUR - 1)
    tolerant.now()
    expect(messages).toHaveLength(1)
    pass(1)
    tolerant.now()
    expect(messages).toHaveLength(2)
    at.wall -= 40 * YEAR - 100 * DAY
    expect(tolerant.now()).toBe(T0 + HOUR + 100 * DAY)
  })

  test('a wall time that cannot be formatted is distrusted too', () => {
    const { at, messages, tolerant } = manualClock()
    at.wall = 9e15
    expect(tolerant.now()).toBe(T0)
    expect(messages[0]).toContain('9000000000000000 ms since 1970')
  })

  test('a clock that starts in 1970 is trusted once it is corrected', () => {
    const { at, messages, tolerant } = manualClock(5000)
    at.wall = T0
    expect(tolerant.now()).toBe(T0)
    expect(messages).toEqual([])
  })
})

describe('at the start, compared with the newest instant of the store', () => {
  test.each([
    ['the same moment', 0],
    ['nine idle years', 9 * YEAR],
    ['a clock that is a month behind', -30 * DAY],
  ])('%s is trusted', (_, ahead) => {
    const { tolerant, messages } = manualClock()
    tolerant.checkAgainst(T0 - ahead)
    expect(tolerant.now()).toBe(T0)
    expect(messages).toEqual([])
  })

  test.each([
    ['2098', 72 * YEAR],
    ['1970', -56 * YEAR],
  ])(
    'a clock in %s is not: time continues from the instant of the store until it is corrected',
    (_, ahead) => {
      const { at, pass, messages, tolerant } = manualClock(T0 + ahead)
      tolerant.checkAgainst(T0)
      pass(DAY / 48)
      expect(tolerant.now()).toBe(T0 + DAY / 48)
      expect(messages).toHaveLength(1)
      at.wall = T0 + 3 * HOUR
      expect(tolerant.now()).toBe(T0 + 3 * HOUR)
    },
  )

  test('an empty store has nothing to compare with', () => {
    const { tolerant } = manualClock(T0 + 72 * YEAR)
    tolerant.checkAgainst(null)
    expect(tolerant.now()).toBe(T0 + 72 * YEAR)
  })
})
