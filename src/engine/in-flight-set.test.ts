import { describe, expect, it } from 'vitest'
import { InFlightSet } from './in-flight-set.ts'

describe('what the engine holds', () => {
  it('is known by id and version', () => {
    const held = new InFlightSet()
    held.add(7, 1)
    expect([held.has(7, 1), held.has(7, 2), held.has(8, 1)]).toEqual([true, false, false])
  })

  it('is not forgotten while a take that started before the settle answered may still bring it', () => {
    const held = new InFlightSet()
    held.add(7, 1)
    const slow = held.takeStarted()
    held.settled(7, 1)
    held.takeEnded(slow)
    expect(held.has(7, 1)).toBe(true)
    held.takeEnded(held.takeStarted())
    expect(held.has(7, 1)).toBe(false)
    expect(held.size).toBe(0)
  })

  it('keeps the newer version of a timer whose older one is forgotten', () => {
    const held = new InFlightSet()
    held.add(7, 1)
    held.settled(7, 1)
    held.add(7, 2)
    held.takeEnded(held.takeStarted())
    expect(held.has(7, 2)).toBe(true)
  })
})
