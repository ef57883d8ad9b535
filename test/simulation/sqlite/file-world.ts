import type { Point as Where } from '../network.ts'
import type { SimulatedProcess } from '../process.ts'
import type { Skew } from '../process-clock.ts'
import { World, type WorldOptions } from '../world.ts'
import { SqliteBackend } from './backend.ts'
import type { Point, Role } from './connection.ts'

/** At which points of a transaction a process may be killed at statement: as a statement is sent, has run, or is answered. */
const POINTS: Readonly<Record<Where, readonly Point[]>> = {
  sent: ['begins', 'commits'],
  ran: ['begun', 'committed'],
  answered: ['committed'],
}

/**
 * A world whose processes share one real SQLite file, and so one machine: its wall clock is theirs and the truth, and
 * there is no network. What would befall a link, a stranger does who has the file's write lock.
 */
export class FileWorld extends World<SqliteBackend> {
  #steppedMs = 0

  constructor(options: WorldOptions) {
    const { leaseMs, heartbeatMs } = options
    super(options, (world) => new SqliteBackend(world, { leaseMs, heartbeatMs }))
  }

  override skew(): Skew {
    return { offsetMs: 0, drift: 0 }
  }

  /** The clock of one process alone cannot be set. */
  override step(): void {}

  override stepDatabase(ms: number): void {
    this.stepAll(ms)
  }

  override stepAll(ms: number): void {
    this.#steppedMs += ms
    super.stepAll(ms)
  }

  override partition(_: SimulatedProcess, ms: number): void {
    this.hold(ms)
  }

  override hang(_: SimulatedProcess, ms: number): void {
    this.hold(ms)
  }

  override outage(ms: number): void {
    this.hold(ms)
  }

  /** Lets somebody else have the file's write lock for a while. */
  hold(ms: number): void {
    this.backend.hold(ms, this.faults.attempt('fileLocked', null))
  }

  /** Kills a process when its next transaction of that kind is at such a point. */
  override killAtStatement(process: SimulatedProcess, statement: string, where: Where): void {
    const role: Role = statement.startsWith('transact')
      ? 'handler'
      : statement.startsWith('own')
        ? 'lock'
        : 'queue'
    const [point] = POINTS[where].slice(statement.length % POINTS[where].length)
    this.killAtPoint(process, role, point!)
  }

  /** Kills a process when its next transaction on such a connection is at this point. */
  killAtPoint(process: SimulatedProcess, role: Role, point: Point): void {
    const markHit = this.faults.attempt('killAtStatement', process.name)
    const stop = this.backend.watch((each, as, at) => {
      if (each !== process || as !== role || at !== point) return
      stop()
      this.note(process.name, `killed at statement: ${role} ${point}`)
      markHit()
      this.kill(process)
    })
  }

  /** Where the file lies is another place every time, and no part of the story. */
  override note(who: string, what: string): void {
    super.note(who, this.backend.placeless(what))
  }

  /** The clock is set right, too. */
  override calm(): void {
    if (this.#steppedMs !== 0) this.stepAll(-this.#steppedMs)
    this.backend.calm()
    super.calm()
  }
}
