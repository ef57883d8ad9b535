import { describe, expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { JumpTolerantClock } from './jump-tolerant-clock.ts'

const T0 = Date.UTC(2026, 10, 15)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** A clock whose two hands are set by hand. */
function hands(wall = T0) {
  const at = { wall, monotonic: 1000 }
  const clock: Clock = {
    now: () => at.wall,
    monotonic: () => at.monotonic,
    setTimer: () => () => {},
    turn: () => Promise.resolve(),
  }
  const said: string[] = []
  const pass = (ms: number) => {
    at.wall += ms
    at.monotonic += ms
  }
  return { at, pass, said, clock, sceptical: new JumpTolerantClock(clock, (message) => said.push(message)) }
}

describe('a running clock', () => {
  test.each([HOUR, -HOUR, DAY, -DAY, 300 * DAY, -300 * DAY])('follows a step by %d ms', (step) => {
    const { at, pass, said, sceptical } = hands()
    pass(HOUR)
    at.wall += step
    expect(sceptical.now()).toBe(T0 + HOUR + step)
    expect(said).toEqual([])
  })

  test.each([72 * YEAR, -50 * YEAR, YEAR + 1, -YEAR - 1])('does not believe a step by %d ms', (step) => {
    const { at, pass, said, sceptical } = hands()
    pass(HOUR)
    expect(sceptical.now()).toBe(T0 + HOUR)
    at.wall += step
    pass(5 * DAY)
    expect(sceptical.now()).toBe(T0 + HOUR + 5 * DAY)
    expect(sceptical.isDistrusted).toBe(true)
    expect(said).toHaveLength(1)
    expect(said[0]).toContain('not believed')
    at.wall -= step
    expect(sceptical.now()).toBe(T0 + HOUR + 5 * DAY)
    expect(sceptical.isDistrusted).toBe(false)
    expect(said[1]).toContain('believed again')
  })

  test('says so again every hour, and takes the clock back once it is within a year', () => {
    const { at, pass, said, sceptical } = hands()
    at.wall += 40 * YEAR
    sceptical.now()
    pass(HOUR - 1)
    sceptical.now()
    expect(said).toHaveLength(1)
    pass(1)
    sceptical.now()
    expect(said).toHaveLength(2)
    at.wall -= 40 * YEAR - 100 * DAY
    expect(sceptical.now()).toBe(T0 + HOUR + 100 * DAY)
  })

  test('a wall time that cannot be written is not believed either', () => {
    const { at, said, sceptical } = hands()
    at.wall = 9e15
    expect(sceptical.now()).toBe(T0)
    expect(said[0]).toContain('9000000000000000 ms since 1970')
  })

  test('a clock that starts in 1970 is believed when it is set right', () => {
    const { at, said, sceptical } = hands(5000)
    at.wall = T0
    expect(sceptical.now()).toBe(T0)
    expect(said).toEqual([])
  })
})

describe('at the start, beside what the store last saw', () => {
  test.each([
    ['the same moment', 0],
    ['nine idle years', 9 * YEAR],
    ['a clock that is a month behind', -30 * DAY],
  ])('%s is believed', (_, ahead) => {
    const { sceptical, said } = hands()
    sceptical.checkAgainst(T0 - ahead)
    expect(sceptical.now()).toBe(T0)
    expect(said).toEqual([])
  })

  test.each([
    ['2098', 72 * YEAR],
    ['1970', -56 * YEAR],
  ])('a clock in %s is not: time goes on from there, until it is set right', (_, ahead) => {
    const { at, pass, said, sceptical } = hands(T0 + ahead)
    sceptical.checkAgainst(T0)
    pass(DAY / 48)
    expect(sceptical.now()).toBe(T0 + DAY / 48)
    expect(said).toHaveLength(1)
    at.wall = T0 + 3 * HOUR
    expect(sceptical.now()).toBe(T0 + 3 * HOUR)
  })

  test('an empty store knows nothing to compare with', () => {
    const { sceptical } = hands(T0 + 72 * YEAR)
    sceptical.checkAgainst(null)
    expect(sceptical.now()).toBe(T0 + 72 * YEAR)
  })
})
