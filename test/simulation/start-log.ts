import type { Fire } from '../../src/targets/index.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** One start of a delivery. */
export interface Start {
  readonly process: string
  readonly occurrenceId: string
  readonly attempt: number
  readonly scheduledFor: number
  /** In truth. */
  readonly at: number
  /** The latest that anybody with a lease could take it for, by the database's clock. */
  readonly latest: number
  /** Who owned the shard at that very moment, by the database. */
  readonly owner: string | null
}

/** What the handlers of a world have seen, with what only the world knows. */
export class StartLog {
  readonly starts: Start[] = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Notes that a delivery starts. What the dead still do in the turn of their death has no effect. */
  note(process: SimulatedProcess, fire: Fire): void {
    if (process.isDead) return
    const { id: occurrenceId, scheduledFor } = fire.occurrence
    this.#world.note(process.name, `delivers ${occurrenceId} attempt ${fire.attempt}`)
    this.starts.push({
      process: process.name,
      occurrenceId,
      attempt: fire.attempt,
      scheduledFor: scheduledFor.getTime(),
      at: this.#world.now,
      latest: this.#world.latestNow,
      owner: this.#world.backend.ownerOf(fire.alarm.id),
    })
  }

  /** Starts before the instant (promise: never-early). */
  get early(): readonly Start[] {
    return this.starts.filter(({ latest, scheduledFor }) => latest < scheduledFor)
  }

  /** Starts by a process that no longer owned the shard (promise: fenced). */
  get unfenced(): readonly Start[] {
    return this.starts.filter(({ process, owner }) => owner !== process)
  }
}
