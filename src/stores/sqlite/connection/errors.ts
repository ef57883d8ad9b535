import { errorText, WakefulError } from '../../../error.ts'
import { CorruptRow } from '../../index.ts'

/** SQLite's primary result codes that users meet. */
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

/** The primary result code of an error of SQLite's; null for any other error. */
function sqliteCode(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return null
  return thrown.errcode & 0xff
}

/** Whether another connection holds the lock, so that trying again makes sense. */
export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(thrown)
  return code === CODES.busy || code === CODES.locked
}

/** Whether the error is the store's own trouble (busy, full, damaged), not that of one row. */
export function isStoreTrouble(thrown: unknown): boolean {
  const code = sqliteCode(thrown)
  return code !== null && STORE_TROUBLE.has(code)
}

const STORE_TROUBLE: ReadonlySet<number> = new Set([
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

/** The error a user gets for one of SQLite's: what was wrong, and what would help. */
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
        'another connection has held the write lock for too long; end its transaction and try again',
      )
    case CODES.readonly:
      return unavailable('the file or its folder cannot be written; check its permissions')
    case CODES.full:
      return unavailable(
        'the disk is full; nothing was written, and Wakeful goes on when there is room again',
      )
    case CODES.io:
      return unavailable('reading or writing the file failed')
    case CODES.cantOpen:
      return unavailable('the file cannot be opened; check that its folder exists and may be written')
    case CODES.corrupt:
      return unavailable('the file is damaged; restore it from a backup')
    case CODES.notADb:
      return unavailable('the file is not a SQLite database; give another path')
    default:
      return new WakefulError('store.unexpected', { name: path, text }, { cause: thrown })
  }
}
