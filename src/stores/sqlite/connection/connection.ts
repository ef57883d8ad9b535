import type { DatabaseSync } from 'node:sqlite'
import { WakefulError } from '../../../error.ts'
import { storeFailure } from './errors.ts'
import { realSystem, type System } from './system.ts'

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
