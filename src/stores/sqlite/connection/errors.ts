import { errorText, WakefulError } from '../../../error.ts'
import { CorruptRow } from '../../index.ts'

const BUSY = 5
const LOCKED = 6
const OUT_OF_MEMORY = 7

/** The reasons of errors that users can cause, by SQLite's result code. */
const REASONS = new Map([
  [BUSY, 'store.busy'],
  [LOCKED, 'store.busy'],
  [8, 'store.not_writable'],
  [10, 'store.file_failed'],
  [11, 'store.damaged'],
  [13, 'store.disk_full'],
  [14, 'store.not_openable'],
  [26, 'store.not_a_database'],
] as const)

/** The primary result code of a SQLite error; null for any other error. */
function sqliteCode(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return null
  return thrown.errcode & 0xff
}

/** Whether another connection has the lock, so that a retry can succeed. */
export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(thrown)
  return code === BUSY || code === LOCKED
}

/** Whether the error concerns the whole store (busy, full, damaged), not one row. */
export function isStoreError(thrown: unknown): boolean {
  const code = sqliteCode(thrown)
  return code !== null && (REASONS.has(code as never) || code === OUT_OF_MEMORY)
}

/** Turns a SQLite error into one that says what was wrong and what to do. */
export function storeFailure(thrown: unknown, path: string): unknown {
  const text = errorText(thrown)
  if (thrown instanceof CorruptRow)
    return new WakefulError('store.damaged_row', { name: path, cause: text }, { cause: thrown })
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  const reason = REASONS.get(code as never)
  return reason === undefined
    ? new WakefulError('store.unexpected', { name: path, cause: text }, { cause: thrown })
    : new WakefulError(reason, { name: path, cause: `SQLite: ${text}` }, { cause: thrown })
}
