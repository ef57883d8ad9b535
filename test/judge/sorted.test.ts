import { describe, expect, it } from 'vitest'
import { countUpTo, isAmong, Spans } from './sorted.ts'

describe('ascending numbers', () => {
  it('are counted up to a value', () => {
    expect([0, 1, 2, 3, 4].map((value) => countUpTo([1, 3, 3], value))).toEqual([0, 1, 1, 3, 3])
  })

  it('contain exactly their elements', () => {
    expect([0, 1, 2, 3, 4].filter((value) => isAmong([1, 3], value))).toEqual([1, 3])
  })
})

describe('spans', () => {
  const spans = new Spans([
    { from: 10, to: 20, name: 'short' },
    { from: 0, to: 100, name: 'long' },
  ])

  it('overlap with their ends included', () => {
    expect([spans.some(100, 200), spans.some(101, 200), spans.some(-5, 0)]).toEqual([true, false, true])
  })

  it('are tested only if they overlap', () => {
    expect(spans.some(20, 30, ({ name }) => name === 'short')).toBe(true)
    expect(spans.some(50, 60, ({ name }) => name === 'short')).toBe(false)
  })
})
