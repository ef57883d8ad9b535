import { decodeCursor } from '../../src/log/index.ts'
import type { Random } from '../random.ts'
import type { Scope } from './alarm-plan.ts'
import type { Ledger } from './ledger.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

const AGAIN_MS = 300

/** Follows an owner's log and keeps its position. When its process dies, it continues in another. */
export class LogReader {
  readonly #world: World
  readonly #ledger: Ledger
  readonly #scope: Scope
  readonly #random: Random
  #after: string | null = null

  constructor(world: World, ledger: Ledger, scope: Scope) {
    this.#world = world
    this.#ledger = ledger
    this.#scope = scope
    this.#random = world.randomFor('follower')
  }

  /** Runs until the world stops. */
  async follow(): Promise<void> {
    for (;;) {
      const up = this.#world.processes.filter((process) => process.isUp)
      const process = up[this.#random.between(0, up.length - 1)]
      if (process !== undefined) await Promise.race([this.#followIn(process), process.died])
      await new Promise<void>((resolve) => this.#world.in(AGAIN_MS, resolve))
    }
  }

  async #followIn(process: SimulatedProcess): Promise<void> {
    const { tenant, owner } = this.#scope
    const after = this.#after === null ? {} : { after: this.#after }
    try {
      for await (const { cursor } of process.wakeful
        .forTenant(tenant, owner)
        .events({ ...after, follow: true })) {
        if (process.isDead) return
        this.#after = cursor
        const [position] = decodeCursor('events', cursor)
        this.#ledger.write(process, { type: 'read', reader: 'follower', position: Number(position) })
      }
    } catch {
      // The store is unavailable or the process is closing. It continues from its position.
    }
  }
}
