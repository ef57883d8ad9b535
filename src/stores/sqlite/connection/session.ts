import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Values } from '../../index.ts'
import { isStoreTrouble } from './errors.ts'

/** A value that can be bound. */
export type Bindable = SQLInputValue

/** Work has failed that is to be undone alone, in a transaction without savepoints. */
export class SavepointNeeded extends Error {
  override readonly name = 'SavepointNeeded'
}

/** A connection with its prepared statements. A user's own handle gets one too, for what runs in its transaction. */
export class Session {
  readonly db: DatabaseSync
  /**
   * Whether work that fails can be undone alone. Without, its whole transaction is undone, and run again with savepoints
   * by whoever began it: SQLite copies every page that is changed under one, which takes 5 µs of a settle's 40.
   */
  savepoints = true
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Runs work that leaves nothing behind when it fails, inside a transaction that somebody else ends. */
  undoable<T>(work: (session: Session) => T): T {
    if (!this.savepoints) return this.#bold(work)
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

  /** Reads as of one moment: another process may commit between two statements. */
  asOfNow<T>(read: (session: Session) => T): T {
    if (this.db.isTransaction) return read(this)
    this.run('BEGIN')
    try {
      return read(this)
    } finally {
      this.run('COMMIT')
    }
  }

  #bold<T>(work: (session: Session) => T): T {
    try {
      return work(this)
    } catch (cause) {
      throw isStoreTrouble(cause) ? cause : new SavepointNeeded('run it again with savepoints', { cause })
    }
  }

  run(sql: string, ...values: Bindable[]): { changes: number; lastInsertRowid: number } {
    // Numbers, since no statement of ours reads BigInts.
    return this.#prepare(sql).run(...values) as { changes: number; lastInsertRowid: number }
  }

  get<R>(sql: string, ...values: Bindable[]): R | undefined {
    return this.#prepare(sql).get(...values) as R | undefined
  }

  all<R>(sql: string, ...values: Bindable[]): R[] {
    return this.#prepare(sql).all(...values) as R[]
  }

  /** Reads rows one by one, as far as they are asked for. */
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
      // A user's handle may have other defaults.
      statement.setReadBigInts(false)
      statement.setReturnArrays(asLists)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
