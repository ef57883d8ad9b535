import { describe, expect, it } from 'vitest'
import { type Beat, type Other, Sightings } from './heartbeat.ts'

const LEASE_MS = 5_000

function other(beats: number, leaseUntil: number): Other {
  return { owner: 'two', beats, leaseUntil, pools: ['app'] }
}

function beat(now: number, ...others: Other[]): Beat {
  return { lost: 0, now, others, shards: [], firsts: new Map() }
}

describe('who is dead', () => {
  it('is who has not renewed its lease by the database’s clock', () => {
    const sightings = new Sightings(LEASE_MS)
    const two = other(1, 105_000)
    sightings.look(beat(100_000, two), 0, 1)
    expect(sightings.isDead(two, 104_999, 4_999)).toBe(false)
    expect(sightings.isDead(two, 105_000, 5_000)).toBe(true)
  })

  it('is also whose beat stands still for a lease on our own clock, where the database’s is behind (failover)', () => {
    const sightings = new Sightings(LEASE_MS)
    const two = other(7, 900_000)
    for (let at = 0; at <= 4_000; at += 2_000) {
      sightings.look(beat(100_000 + at, two), at, at + 1)
      expect(sightings.isDead(two, 100_000 + at, at + 1)).toBe(false)
    }
    sightings.look(beat(106_000, two), 6_000, 6_001)
    expect(sightings.isDead(two, 106_000, 6_001)).toBe(true)
  })

  it('is not whose beat moves, however long it has been known', () => {
    const sightings = new Sightings(LEASE_MS)
    for (let at = 0; at <= 20_000; at += 2_000) {
      const two = other(at, 100_000 + at + LEASE_MS)
      sightings.look(beat(100_000 + at, two), at, at + 1)
      expect(sightings.isDead(two, 100_000 + at, at + 1)).toBe(false)
    }
  })

  it('is not whose lease only seems to have ended because the clock jumped ahead', () => {
    const sightings = new Sightings(LEASE_MS)
    sightings.look(beat(100_000, other(1, 105_000)), 0, 1)
    const two = other(2, 107_000)
    sightings.look(beat(702_000, two), 2_000, 2_001)
    expect(sightings.isDead(two, 702_000, 2_001)).toBe(false)
    expect(sightings.isDead(two, 707_100, 7_100)).toBe(true)
  })
})
