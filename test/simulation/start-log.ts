import type { Fire } from '../../src/targets/index.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** One start of a delivery. */
export interface Start {
  readonly process: string
  readonly occurrenceId: string
  readonly attempt: number
  readonly scheduledFor: number
  /** True time. */
  readonly at: number
  /** The latest time that a process with a lease may assume, by the database's clock. */
  readonly latest: number
  /** The lease holder at that moment, by the database. */
  readonly owner: string | null
}

/** The delivery starts that the handlers saw, with facts that only the world knows. */
export class StartLog {
  readonly starts: Start[] = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Records the start of a delivery. A process that dies within a turn has no further effect in that turn. */
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

  /** Starts by a process that no longer held the lease (promise: fenced). */
  get unfenced(): readonly Start[] {
    return this.starts.filter(({ process, owner }) => owner !== process)
  }
}
