import { closeSync, openSync, utimesSync } from 'node:fs'
import type { DatabaseSync, DatabaseSyncOptions, SQLInputValue, StatementSync } from 'node:sqlite'
import { WakefulError } from '../../../error.ts'
import type { Clock } from '../../../time/index.ts'
import type { Values } from '../../index.ts'
import { isBusy, isStoreError, storeFailure } from './errors.ts'
import { nodeSqlite } from './node-sqlite.ts'

const BUSY_WAIT_MS_MAX = 20
/** How often it checks for commits of other processes. A check takes 3 µs, so that their alarms fire on time. */
const POLL_MS = 25

/** What the store needs from the operating system and the event loop. The simulation implements its own. */
export interface System {
  /** Calls back at the end of this turn of the event loop. */
  soon(call: () => void): void
  /** Calls back once, after this many milliseconds. */
  later(ms: number, call: () => void): void
  /** Calls back at this interval, until the returned function is called. */
  every(ms: number, call: () => void): () => void
  /** Opens a database file. */
  open(path: string, options: DatabaseSyncOptions): DatabaseSync
  /** Sets a file's modification time, in epoch milliseconds. */
  touch(path: string, at: number): void
}

/** Node, and the operating system below it. */
export const realSystem: System = {
  soon: (call) => void setImmediate(call),
  later: (ms, call) => void setTimeout(call, ms),
  every(ms, call) {
    const timer = setInterval(call, ms)
    return () => clearInterval(timer)
  },
  open(path, options) {
    if (options.readOnly !== true && path !== ':memory:') makePrivate(path)
    return new nodeSqlite.DatabaseSync(path, options)
  },
  touch: (path, at) => utimesSync(path, at / 1000, at / 1000),
}

/**
 * Creates a missing file with access for its owner only, because it contains payloads and hashes of keys. SQLite gives the
 * files beside it the same permissions. An existing file keeps its permissions.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists, or cannot be created; then opening it reports why.
  }
}

/** Waits without blocking the event loop. */
function wait(system: System, ms: number): Promise<void> {
  return new Promise((resolve) => system.later(ms, resolve))
}

/** Yields to the event loop. A virtual clock does not advance meanwhile. */
export function yieldTurn(clock: Clock, system: System): Promise<void> {
  const over = new Promise<void>((resolve) => system.soon(resolve))
  return clock.hold === undefined ? over : clock.hold(over)
}

/** Opens a database file with durable commits, readers beside the writer, and no blocking waits. */
export function connect(
  path: string,
  options: { readOnly?: boolean } = {},
  system: System = realSystem,
): DatabaseSync {
  let db: DatabaseSync
  try {
    // Busy timeout 0: a wait inside SQLite would block the event loop, and this thread may have the lock.
    db = system.open(path, { timeout: 0, readOnly: options.readOnly ?? false })
  } catch (thrown) {
    throw storeFailure(thrown, path)
  }
  try {
    if (options.readOnly !== true) prepare(db, path)
    return db
  } catch (thrown) {
    db.close()
    throw storeFailure(thrown, path)
  }
}

function prepare(db: DatabaseSync, path: string): void {
  // Only these first statements may wait, because another process may be creating the file.
  db.exec('PRAGMA busy_timeout = 5000')
  const mode = db.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string }
  if (mode.journal_mode !== 'wal' && path !== ':memory:') {
    throw new WakefulError('store.no_wal', { name: path, mode: String(mode.journal_mode) })
  }
  // FULL: a commit is on disk before the caller gets its answer (promise: durable).
  db.exec(
    'PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 0',
  )
}

/** Acquires the write lock without blocking the event loop: this thread may have it. */
export async function beginImmediate(db: DatabaseSync, path: string, busyMs: number, system: System) {
  for (let waited = 0, ms = 1; ; ms = Math.min(ms * 2, BUSY_WAIT_MS_MAX)) {
    try {
      db.exec('BEGIN IMMEDIATE')
      return
    } catch (thrown) {
      if (!isBusy(thrown) || waited >= busyMs) throw storeFailure(thrown, path)
    }
    await wait(system, ms)
    waited += ms
  }
}

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

  run(sql: string, ...values: SQLInputValue[]): { changes: number; lastInsertRowid: number } {
    // Numbers, because no statement reads BigInts.
    return this.#prepare(sql).run(...values) as { changes: number; lastInsertRowid: number }
  }

  get<R>(sql: string, ...values: SQLInputValue[]): R | undefined {
    return this.#prepare(sql).get(...values) as R | undefined
  }

  all<R>(sql: string, ...values: SQLInputValue[]): R[] {
    return this.#prepare(sql).all(...values) as R[]
  }

  /** Reads rows as lists of values. */
  values(sql: string, ...bound: SQLInputValue[]): Values[] {
    return this.#prepare(sql, true).all(...bound) as unknown as Values[]
  }

  /** Reads rows as lists of values one by one, as the caller iterates. */
  eachValues(sql: string, ...bound: SQLInputValue[]): Iterable<Values> {
    return this.#prepare(sql, true).iterate(...bound) as unknown as Iterable<Values>
  }

  /** Reads one row as a list of values. */
  value(sql: string, ...bound: SQLInputValue[]): Values | undefined {
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

/**
 * Calls back when another connection has committed. SQLite has no hook for that, so it polls `data_version`. Returns a
 * function that stops it.
 */
export function watchCommits(session: Session, system: System, listener: () => void): () => void {
  const read = () => session.get<{ data_version: number }>('PRAGMA data_version')!.data_version
  let version = read()
  return system.every(POLL_MS, () => {
    const before = version
    try {
      version = read()
    } catch {
      // Reads and writes of the file report errors.
    }
    if (version !== before) listener()
  })
}
