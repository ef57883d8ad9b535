import { describe, expect, it } from 'vitest'
import { type HeartbeatResult, LivenessTracker, type OtherProcess } from './heartbeat.ts'

const LEASE_MS = 5_000

function other(heartbeats: number, leaseUntil: number): OtherProcess {
  return { process: 'two', heartbeats, leaseUntil, pools: ['app'] }
}

function observed(now: number, ...others: OtherProcess[]): HeartbeatResult {
  return { takeovers: 0, now, others, shards: [], nextWakes: new Map() }
}

describe('a process is dead', () => {
  it('when its lease has ended by the database’s clock', () => {
    const liveness = new LivenessTracker(LEASE_MS)
    const two = other(1, 105_000)
    liveness.observe(observed(100_000, two), 0, 1)
    expect(liveness.isDead(two, 104_999, 4_999)).toBe(false)
    expect(liveness.isDead(two, 105_000, 5_000)).toBe(true)
  })

  it('when its heartbeat has not moved for a lease on our own clock, where the database’s is behind (failover)', () => {
    const liveness = new LivenessTracker(LEASE_MS)
    const two = other(7, 900_000)
    for (let at = 0; at <= 4_000; at += 2_000) {
      liveness.observe(observed(100_000 + at, two), at, at + 1)
      expect(liveness.isDead(two, 100_000 + at, at + 1)).toBe(false)
    }
    liveness.observe(observed(106_000, two), 6_000, 6_001)
    expect(liveness.isDead(two, 106_000, 6_001)).toBe(true)
  })

  it('not while its heartbeat moves, however long it has been known', () => {
    const liveness = new LivenessTracker(LEASE_MS)
    for (let at = 0; at <= 20_000; at += 2_000) {
      const two = other(at, 100_000 + at + LEASE_MS)
      liveness.observe(observed(100_000 + at, two), at, at + 1)
      expect(liveness.isDead(two, 100_000 + at, at + 1)).toBe(false)
    }
  })

  it('not when its lease only seems to have ended because the clock jumped ahead', () => {
    const liveness = new LivenessTracker(LEASE_MS)
    liveness.observe(observed(100_000, other(1, 105_000)), 0, 1)
    const two = other(2, 107_000)
    liveness.observe(observed(702_000, two), 2_000, 2_001)
    expect(liveness.isDead(two, 702_000, 2_001)).toBe(false)
    expect(liveness.isDead(two, 707_100, 7_100)).toBe(true)
  })
})
