import { errorText, WakefulError } from '../../../error.ts'
import { CorruptRow } from '../../index.ts'

const BUSY = 5
const LOCKED = 6
const OUT_OF_MEMORY = 7
const LOCK_ADVICE =
  'another connection has kept the write lock for too long; end its transaction and try again'

/** What to do about the errors that users can cause, by SQLite's result code. */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [BUSY, LOCK_ADVICE],
  [LOCKED, LOCK_ADVICE],
  [8, 'the file or its folder cannot be written; check its permissions'],
  [10, 'reading or writing the file failed'],
  [11, 'the file is damaged; restore it from a backup'],
  [13, 'the disk is full; nothing was written, and Wakeful continues when there is space again'],
  [14, 'the file cannot be opened; check that its folder exists and is writable'],
  [26, 'the file is not a SQLite database; choose another path'],
])

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
  return code !== null && (ADVICE.has(code) || code === OUT_OF_MEMORY)
}

/** Turns a SQLite error into one that says what was wrong and what to do. */
export function storeFailure(thrown: unknown, path: string): unknown {
  if (thrown instanceof CorruptRow)
    return new WakefulError('store.damaged_row', { name: path, text: errorText(thrown) }, { cause: thrown })
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  const text = errorText(thrown)
  const detail = ADVICE.get(code)
  return detail === undefined
    ? new WakefulError('store.unexpected', { name: path, text }, { cause: thrown })
    : new WakefulError('store.failed', { name: path, detail, text: `SQLite: ${text}` }, { cause: thrown })
}
