import { describe, expect, it } from 'vitest'
import type { HeartbeatRequest, HeartbeatResult, SeenShard } from './heartbeat.ts'
import { NextWakeCache } from './next-wake-cache.ts'
import { type LeaseTransaction, ShardLeases } from './shard-leases.ts'

const NOW = 1_000_000
const CONTEXT = { now: NOW, graceMs: 60_000, random: () => 0, newId: () => 'id' }

/** One process `one` and a database of which a test says what it answers. */
class Scene {
  monotonic = 1_000
  /** How long a heartbeat takes. */
  tookMs = 1
  takeovers = 7
  isRegistered = true
  /** What a heartbeat answers, and what a statement that begins after it sees. */
  seen: SeenShard[] = [shard(1, 'one')]
  later: SeenShard[] = this.seen
  /** How many shards an acquisition finds free. */
  free = 1
  readonly requests: HeartbeatRequest[] = []
  readonly early: number[] = []
  acquisitions = 0
  readonly released: number[] = []
  readonly left: string[] = []
  readonly leases = new ShardLeases({
    clock: {
      now: () => NOW,
      monotonic: () => this.monotonic,
      setTimer: () => () => {},
      turn: async () => {},
    },
    leaseMs: 5_000,
    nextWakes: new NextWakeCache(),
    onHeartbeat: () => {},
    requestHeartbeat: (inMs) => void this.early.push(inMs),
    sendHeartbeat: async (request) => {
      this.requests.push(request)
      this.monotonic += this.tookMs
      return this.#result()
    },
    statements: {
      ensureShards: async () => {},
      shardsOf: async (process) => this.later.filter(({ holder }) => holder === process),
      leaseTransaction: (work) => work(this.#transaction()),
    },
  })

  heartbeat(now = NOW) {
    return this.leases.heartbeat('one', ['app'], { ...CONTEXT, now })
  }

  #result(): HeartbeatResult {
    return { takeovers: this.takeovers, now: NOW, others: [], shards: this.seen, nextWakes: new Map() }
  }

  #transaction(): LeaseTransaction {
    return {
      lockProcess: async () => this.isRegistered,
      markDead: async () => [],
      acquire: async (process, pool, _dead, count) => {
        this.acquisitions += 1
        const free = this.seen.filter(({ holder }) => holder === null).slice(0, Math.min(count, this.free))
        return free.map(({ shard, epoch }) => ({ shard, pool, epoch: epoch + 1, holder: process }))
      },
      recoverInFlight: async () => {},
      removeDead: async () => {},
      releaseIdle: async () => new Set(),
      release: async (_processes, leases) => void this.released.push(...leases.map(({ shard }) => shard)),
      leave: async (process) => void this.left.push(process),
      notifyFreeShards: () => {},
    }
  }
}

function shard(number: number, holder: string | null): SeenShard {
  return { pool: 'app', shard: number, epoch: 1, holder }
}

describe('the leases of a process', () => {
  it('end when the process leaves, even if it holds no shard: the others would keep its share free', async () => {
    const scene = new Scene()
    scene.seen = [shard(1, 'two')]
    scene.later = scene.seen
    scene.free = 0
    expect(await scene.heartbeat()).toEqual([])
    await scene.leases.leave('one')
    expect(scene.left).toEqual(['one'])
  })

  it('are released by name: a release of none releases nothing, and the process stays', async () => {
    const scene = new Scene()
    const leases = await scene.heartbeat()
    await scene.leases.release([])
    expect([scene.released, scene.left, scene.leases.holds(1)]).toEqual([[], [], true])
    await scene.leases.release(leases)
    expect([scene.released, scene.left, scene.leases.holds(1)]).toEqual([[1], [], false])
  })

  it('are read again where a heartbeat waited for a takeover: it saw what was before (fenced)', async () => {
    const scene = new Scene()
    expect(await scene.heartbeat()).toHaveLength(1)
    scene.takeovers += 1
    scene.later = [shard(1, 'two')]
    expect(await scene.heartbeat()).toEqual([])
  })

  it('are not read again where there was no takeover', async () => {
    const scene = new Scene()
    await scene.heartbeat()
    scene.later = []
    expect(await scene.heartbeat()).toHaveLength(1)
  })

  it('do not grow while the process has no row: nobody could take over from it (at-least-once)', async () => {
    const scene = new Scene()
    scene.seen = [shard(1, null)]
    scene.later = []
    scene.isRegistered = false
    expect(await scene.heartbeat()).toEqual([])
    expect(scene.acquisitions).toBe(0)
    scene.isRegistered = true
    expect(await scene.heartbeat()).toHaveLength(1)
  })

  it('are tried again early where a shard was locked', async () => {
    const scene = new Scene()
    scene.seen = [shard(1, null), shard(2, null)]
    scene.later = []
    expect(await scene.heartbeat()).toHaveLength(1)
    expect(scene.early).toEqual([250])
  })

  it('search from the heartbeat before, however long ago that was: a notice may be lost (at-least-once)', async () => {
    const scene = new Scene()
    scene.tookMs = 101
    for (const now of [NOW, NOW + 2_000, NOW + 3_600_000, NOW + 3_600_000]) await scene.heartbeat(now)
    const from = scene.requests.map(({ wakesFrom }) => wakesFrom)
    expect(from).toEqual([0, NOW - 60_000, NOW + 2_000 - 60_000, NOW + 3_600_000 - 60_000])
  })

  it('are renewed by heartbeats that look at recent wakes only, after a slow one, and at all of them in the end', async () => {
    const scene = new Scene()
    scene.tookMs = 150
    await scene.heartbeat()
    scene.tookMs = 1
    for (let i = 0; i < 17; i++) await scene.heartbeat()
    const bounded = scene.requests.map(({ wakesFrom }) => wakesFrom > 0)
    expect(bounded).toEqual([false, ...Array<boolean>(15).fill(true), false, false])
  })
})
