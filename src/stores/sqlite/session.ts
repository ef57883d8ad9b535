import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Values } from '../index.ts'

/** A value that can be bound. */
export type Bindable = SQLInputValue

/** A connection with its prepared statements. A user's own handle gets one too, for what runs in its transaction. */
export class Session {
  readonly db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Runs work that leaves nothing behind when it fails, inside a transaction that somebody else ends. */
  undoable<T>(work: (session: Session) => T): T {
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

  run(sql: string, ...values: Bindable[]): { changes: number; lastInsertRowid: number } {
    const { changes, lastInsertRowid } = this.#prepare(sql).run(...values)
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
  }

  get<R>(sql: string, ...values: Bindable[]): R | undefined {
    return this.#prepare(sql).get(...values) as R | undefined
  }

  all<R>(sql: string, ...values: Bindable[]): R[] {
    return this.#prepare(sql).all(...values) as R[]
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
