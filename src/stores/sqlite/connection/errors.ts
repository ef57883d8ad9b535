import { errorText, WakefulError } from '../../../error.ts'
import { CorruptRow } from '../../index.ts'

/** The SQLite result codes that users can cause. */
const CODES = {
  busy: 5,
  locked: 6,
  nomem: 7,
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  constraint: 19,
  notADb: 26,
} as const

/** The primary result code of a SQLite error; null for any other error. */
function sqliteCode(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return null
  return thrown.errcode & 0xff
}

/** Whether another connection has the lock, so that a retry can succeed. */
export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(thrown)
  return code === CODES.busy || code === CODES.locked
}

/** Whether the error concerns the whole store (busy, full, damaged), not one row. */
export function isStoreError(thrown: unknown): boolean {
  const code = sqliteCode(thrown)
  return code !== null && STORE_ERRORS.has(code)
}

const STORE_ERRORS: ReadonlySet<number> = new Set([
  CODES.busy,
  CODES.locked,
  CODES.nomem,
  CODES.readonly,
  CODES.io,
  CODES.corrupt,
  CODES.full,
  CODES.cantOpen,
  CODES.notADb,
])

/** Turns a SQLite error into one that says what was wrong and what to do. */
export function storeFailure(thrown: unknown, path: string): unknown {
  if (thrown instanceof CorruptRow)
    return new WakefulError('store.damaged_row', { name: path, text: errorText(thrown) }, { cause: thrown })
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  const text = errorText(thrown)
  const unavailable = (advice: string) =>
    new WakefulError(
      'store.failed',
      { name: path, detail: advice, text: `SQLite: ${text}` },
      { cause: thrown },
    )
  switch (code) {
    case CODES.busy:
    case CODES.locked:
      return unavailable(
        'another connection has kept the write lock for too long; end its transaction and try again',
      )
    case CODES.readonly:
      return unavailable('the file or its folder cannot be written; check its permissions')
    case CODES.full:
      return unavailable(
        'the disk is full; nothing was written, and Wakeful continues when there is space again',
      )
    case CODES.io:
      return unavailable('reading or writing the file failed')
    case CODES.cantOpen:
      return unavailable('the file cannot be opened; check that its folder exists and is writable')
    case CODES.corrupt:
      return unavailable('the file is damaged; restore it from a backup')
    case CODES.notADb:
      return unavailable('the file is not a SQLite database; choose another path')
    default:
      return new WakefulError('store.unexpected', { name: path, text }, { cause: thrown })
  }
}
