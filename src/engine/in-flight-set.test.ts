import { describe, expect, it } from 'vitest'
import { InFlightSet } from './in-flight-set.ts'

describe('what the engine has in flight', () => {
  it('is known by id and version', () => {
    const inFlight = new InFlightSet()
    inFlight.add(7, 1)
    expect([inFlight.has(7, 1), inFlight.has(7, 2), inFlight.has(8, 1)]).toEqual([true, false, false])
  })

  it('is not forgotten while a claim that started before the settle was confirmed may still bring it', () => {
    const inFlight = new InFlightSet()
    inFlight.add(7, 1)
    const slow = inFlight.claimStarted()
    inFlight.settled(7, 1)
    inFlight.claimEnded(slow)
    expect(inFlight.has(7, 1)).toBe(true)
    inFlight.claimEnded(inFlight.claimStarted())
    expect(inFlight.has(7, 1)).toBe(false)
    expect(inFlight.size).toBe(0)
  })

  it('keeps the newer version of a timer whose older one is forgotten', () => {
    const inFlight = new InFlightSet()
    inFlight.add(7, 1)
    inFlight.settled(7, 1)
    inFlight.add(7, 2)
    inFlight.claimEnded(inFlight.claimStarted())
    expect(inFlight.has(7, 2)).toBe(true)
  })
})
