import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Values } from '../../index.ts'
import { isStoreError } from './errors.ts'

/** A value that can be bound. */
export type Bindable = SQLInputValue

/** Work failed that must be rolled back alone, in a transaction without savepoints. */
export class SavepointNeeded extends Error {
  override readonly name = 'SavepointNeeded'
}

/** A connection with its prepared statements. A user's own connection gets one too, for calls in its transaction. */
export class Session {
  readonly db: DatabaseSync
  /**
   * Whether failed work is rolled back alone. Without savepoints its whole transaction is rolled back and run again with
   * them. Savepoints make SQLite copy every page that changes, which takes 5 µs of a settle's 40.
   */
  savepoints = true
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Runs work within the caller's transaction, and rolls it back alone if it fails. */
  undoable<T>(work: (session: Session) => T): T {
    if (!this.savepoints) return this.#withoutSavepoint(work)
    this.run('SAVEPOINT wakeful')
    try {
      return work(this)
    } catch (thrown) {
      if (this.db.isTransaction) this.run('ROLLBACK TO wakeful')
      throw thrown
    } finally {
      if (this.db.isTransaction) this.run('RELEASE wakeful')
    }
  }

  /** Runs several reads on one state of the database: another process may commit between two statements. */
  inReadTransaction<T>(read: (session: Session) => T): T {
    if (this.db.isTransaction) return read(this)
    this.run('BEGIN')
    try {
      return read(this)
    } finally {
      this.run('COMMIT')
    }
  }

  #withoutSavepoint<T>(work: (session: Session) => T): T {
    try {
      return work(this)
    } catch (cause) {
      throw isStoreError(cause) ? cause : new SavepointNeeded('run it again with savepoints', { cause })
    }
  }

  run(sql: string, ...values: Bindable[]): { changes: number; lastInsertRowid: number } {
    // Numbers, because no statement reads BigInts.
    return this.#prepare(sql).run(...values) as { changes: number; lastInsertRowid: number }
  }

  get<R>(sql: string, ...values: Bindable[]): R | undefined {
    return this.#prepare(sql).get(...values) as R | undefined
  }

  all<R>(sql: string, ...values: Bindable[]): R[] {
    return this.#prepare(sql).all(...values) as R[]
  }

  /** Reads rows one by one, as the caller iterates. */
  each<R>(sql: string, ...values: Bindable[]): Iterable<R> {
    return this.#prepare(sql).iterate(...values) as Iterable<R>
  }

  /** Reads rows as lists of values. */
  values(sql: string, ...bound: Bindable[]): Values[] {
    return this.#prepare(sql, true).all(...bound) as unknown as Values[]
  }

  /** Reads one row as a list of values. */
  value(sql: string, ...bound: Bindable[]): Values | undefined {
    return this.#prepare(sql, true).get(...bound) as unknown as Values | undefined
  }

  #prepare(sql: string, asLists = false): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.db.prepare(sql)
      // A user's connection may have other defaults.
      statement.setReadBigInts(false)
      statement.setReturnArrays(asLists)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
