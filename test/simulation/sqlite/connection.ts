import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue, type StatementSync } from 'node:sqlite'

const SQLITE_FULL = 13

/** The progress of a transaction: its write lock requested or acquired, its commit requested or done. */
export type Point = 'begins' | 'begun' | 'commits' | 'committed'

/** The purpose of a connection: the process's queue, its transactional handlers, or a side lock. */
export type Role = 'queue' | 'handler' | 'lock'

/** Thrown for anything a killed process still tries. */
class Killed extends Error {
  override readonly name = 'Killed'
}

/** Callbacks of a connection. */
export interface Reports {
  /** A transaction has reached a point. */
  reach(role: Role, point: Point): void
  /** A write was rejected because the disk is full. */
  refuse(): void
  /** Whether its process is dead. */
  isDead(): boolean
}

/** Statements that begin and end transactions, with the points before and after them. */
const POINTS: Readonly<Record<string, readonly [Point, Point]>> = {
  'BEGIN IMMEDIATE': ['begins', 'begun'],
  'BEGIN EXCLUSIVE': ['begins', 'begun'],
  COMMIT: ['commits', 'committed'],
}

/** A real connection to the file, of a process that can be killed at any point of a transaction. */
export class SimulatedConnection extends DatabaseSync {
  readonly role: Role
  readonly #reports: Reports

  constructor(path: string, options: DatabaseSyncOptions, role: Role, reports: Reports) {
    super(path, options)
    this.role = role
    this.#reports = reports
  }

  override exec(sql: string): void {
    const [before, after] = POINTS[sql] ?? []
    if (before !== undefined) this.#reach(before)
    super.exec(sql)
    if (after !== undefined) this.#reach(after)
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql)
    const run = statement.run.bind(statement)
    const watched = (...values: SQLInputValue[]) => {
      try {
        return run(...values)
      } catch (thrown) {
        if ((thrown as { errcode?: number }).errcode === SQLITE_FULL) this.#reports.refuse()
        throw thrown
      }
    }
    return Object.assign(statement, { run: watched })
  }

  /** Stops a process that was killed at this point. Its connections are already closed. */
  #reach(point: Point): void {
    this.#reports.reach(this.role, point)
    if (this.#reports.isDead()) throw new Killed(`killed as a transaction ${point}`)
  }
}
