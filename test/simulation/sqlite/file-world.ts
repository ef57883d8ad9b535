import type { Point as Where } from '../network.ts'
import type { SimulatedProcess } from '../process.ts'
import type { Skew } from '../process-clock.ts'
import { World, type WorldOptions } from '../world.ts'
import { SqliteBackend } from './backend.ts'
import type { Point, Role } from './connection.ts'

/** The points of a transaction that correspond to a statement being sent, executed or answered. */
const POINTS: Readonly<Record<Where, readonly Point[]>> = {
  sent: ['begins', 'commits'],
  ran: ['begun', 'committed'],
  answered: ['committed'],
}

/**
 * A world whose processes share one real SQLite file and so one machine. Its wall clock is theirs and is true time.
 * There is no network: instead of connection faults, a foreign program locks the file.
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

  /** The clock of a single process cannot be set. */
  override step(): void {}

  override stepDatabase(ms: number): void {
    this.stepAll(ms)
  }

  override stepAll(ms: number): void {
    this.#steppedMs += ms
    super.stepAll(ms)
  }

  override partition(_: SimulatedProcess, ms: number): void {
    this.lockFile(ms)
  }

  override hang(_: SimulatedProcess, ms: number): void {
    this.lockFile(ms)
  }

  override outage(ms: number): void {
    this.lockFile(ms)
  }

  /** Lets a foreign program hold the file's write lock for a while. */
  lockFile(ms: number): void {
    this.backend.lockFile(ms, this.faults.attempt('fileLocked', null))
  }

  /** Kills a process when its next transaction of this kind is at this point. */
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

  /** The path of the file differs in every run and must not be in the trace. */
  override note(name: string, what: string): void {
    super.note(name, this.backend.withoutPath(what))
  }

  /** Also corrects the clock. */
  override calm(): void {
    if (this.#steppedMs !== 0) this.stepAll(-this.#steppedMs)
    this.backend.calm()
    super.calm()
  }
}
