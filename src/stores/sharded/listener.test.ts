import { describe, expect, it } from 'vitest'
import type { HeartbeatRequest, HeartbeatResult } from './heartbeat.ts'
import { type ListenCallbacks, type ListenConnection, Listener } from './listener.ts'

const BROKEN = new Error('broken')
const REQUEST: HeartbeatRequest = { process: 'one', pools: [], leaseMs: 5_000, wakesFrom: 0 }
const RESULT = {} as HeartbeatResult

/** A server that can be reached or not, and timers that pass when a test says so. */
class Scene {
  isUp = true
  readonly waits: { readonly ms: number; readonly call: () => void }[] = []
  readonly heartbeats: string[] = []
  connections = 0
  listenings = 0
  last: ListenCallbacks | null = null
  readonly listener = new Listener({
    timers: {
      soon: (call) => call(),
      later: (ms, call) => {
        const wait = { ms, call }
        this.waits.push(wait)
        return () => void this.waits.splice(this.waits.indexOf(wait), 1)
      },
      every: () => () => {},
    },
    statements: {
      canListen: true,
      isBroken: (thrown) => thrown === BROKEN,
      listenConnection: (callbacks) => this.#connection(callbacks),
      heartbeat: async () => this.#heartbeat('elsewhere'),
    },
    onNotice: () => {},
    onListening: () => {
      this.listenings += 1
    },
  })

  /** Lets the next wait pass; returns how long it was. */
  async pass(): Promise<number> {
    const { ms, call } = this.waits.shift()!
    call()
    await settled()
    return ms
  }

  #connection(callbacks: ListenCallbacks): ListenConnection {
    this.connections += 1
    this.last = callbacks
    return {
      listen: async () => {
        if (!this.isUp) throw BROKEN
      },
      heartbeat: async () => {
        if (!this.isUp) throw BROKEN
        return this.#heartbeat('listening')
      },
      close: async () => {},
      drop: () => {},
    }
  }

  #heartbeat(where: string): HeartbeatResult {
    this.heartbeats.push(where)
    return RESULT
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('the connection that listens', () => {
  it('is made again where it was lost, later each time, and what was missed is caught up with', async () => {
    const scene = new Scene()
    scene.listener.start()
    await settled()
    expect([scene.listener.isListening, scene.listenings]).toEqual([true, 1])
    scene.isUp = false
    scene.last!.onLost()
    expect(scene.listener.isListening).toBe(false)
    const waits = [await scene.pass(), await scene.pass(), await scene.pass()]
    expect(waits).toEqual([100, 200, 400])
    scene.isUp = true
    await scene.pass()
    expect([scene.listener.isListening, scene.listenings]).toEqual([true, 2])
  })

  it('carries the heartbeat; where it is broken, another does, and it is given up', async () => {
    const scene = new Scene()
    scene.listener.start()
    await settled()
    await scene.listener.heartbeat(REQUEST)
    scene.isUp = false
    await scene.listener.heartbeat(REQUEST)
    expect(scene.heartbeats).toEqual(['listening', 'elsewhere'])
    expect([scene.listener.isListening, scene.waits.length]).toEqual([false, 1])
  })

  it('is not made again once it is closed', async () => {
    const scene = new Scene()
    scene.listener.start()
    await settled()
    scene.last!.onLost()
    await scene.listener.close()
    expect([scene.waits.length, scene.connections]).toEqual([0, 1])
  })
})
