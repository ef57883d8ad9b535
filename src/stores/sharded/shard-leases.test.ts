import { describe, expect, it } from 'vitest'
import type { HeartbeatRequest, HeartbeatResult, SeenShard } from './heartbeat.ts'
import type { LeaseTransaction } from './lease-statements.ts'
import { NextWakeCache } from './next-wake-cache.ts'
import { ShardLeases } from './shard-leases.ts'

const NOW = 1_000_000
const CONTEXT = { now: NOW, random: () => 0, newId: () => 'id' }

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
    heartbeatIn: (inMs) => void this.early.push(inMs),
    sendHeartbeat: async (request) => {
      this.requests.push(request)
      this.monotonic += this.tookMs
      return this.#result()
    },
    statements: {
      servePools: async () => {},
      shardsOf: async (process) => this.later.filter(({ holder }) => holder === process),
      leaseTransaction: (work) => work(this.#transaction()),
    },
  })

  heartbeat() {
    return this.leases.heartbeat('one', ['app'], CONTEXT)
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
      giveUpIdle: async () => new Set(),
      release: async () => {},
      notifyFreeShards: () => {},
    }
  }
}

function shard(number: number, holder: string | null): SeenShard {
  return { pool: 'app', shard: number, epoch: 1, holder }
}

describe('the leases of a process', () => {
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
