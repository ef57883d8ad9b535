import { errorText, WakefulError } from '../../../error.ts'
import { isPgConnectionText, pgHandshakeProblem } from '../../../errors/index.ts'
import { CorruptRow } from '../../index.ts'

/** The SQLSTATE of a PostgreSQL error, or Node's code of a broken connection; null for other errors. */
function codeOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null
  const { code } = thrown as { code?: unknown }
  if (typeof code === 'string' && /^(?:[0-9A-Z]{5}|E(?!RR_)[A-Z_]+)$/.test(code)) return code
  return isPgConnectionText(thrown.message) ? 'ECONNRESET' : null
}

/** Whether the connection is gone, so that the result of the last statement is unknown. */
export function isBroken(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code !== null && (/^E[A-Z]{4}/.test(code) || /^(?:08|57P0)/.test(code))
}

function hasCode(...codes: readonly string[]): (thrown: unknown) => boolean {
  return (thrown) => codes.includes(codeOf(thrown) ?? '')
}

/** Whether a statement was refused only because an earlier one in its transaction failed. */
export const isAborted = hasCode('25P02')
/** Whether two transactions conflicted, so that a retry may succeed. */
export const isContention = hasCode('40P01', '40001')
/** Whether a lock was not acquired in time. */
export const isLockTimeout = hasCode('55P03')
/** Whether a table exists already, or is not the expected one. */
export const isForeignTable = hasCode('42P07', '42703')
/** Whether a unique index refused a row. */
export const isDuplicate = hasCode('23505')

/** An error like that of a conflict, raised by the store itself. */
export function contention(reason: string): Error {
  return Object.assign(new Error(reason), { code: '40001' })
}

/**
 * Errors of one row: its data (22), a constraint (23), an index entry that is too long, a page that cannot be read.
 */
const OF_A_ROW = /^(?:2[23]|54000$|XX001$)/

/** Whether the error is the store's, and not that of one row. */
export function isStoreError(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code !== null && !OF_A_ROW.test(code)
}

/** The reasons of errors that users can cause, by SQLSTATE. */
const REASONS = [
  [/^28/, 'store.login_refused'],
  [/^3D000$/, 'store.no_database'],
  [/^42501$/, 'store.not_permitted'],
  [/^(?:3F000|42P01)$/, 'store.table_missing'],
  [/^25006$/, 'store.read_only'],
  [/^53300$/, 'store.connections_used_up'],
  [/^53/, 'store.server_full'],
  [/^55P03$/, 'store.row_locked'],
  [/^57014$/, 'store.statement_timeout'],
  [/^(?:08P01|26000|42P05)$/, 'store.pooler'],
  [/^40/, 'store.contended'],
  [/^25P03$/, 'store.transaction_timeout'],
  [/^(?:E[A-Z]|08|57P)/, 'store.unreachable'],
] as const

/** The reasons of errors before a session begins. */
const HANDSHAKE = { password: 'store.password_missing', no_tls: 'store.no_tls' } as const

/** Node's codes for a certificate that cannot be verified. */
const CERTIFICATE: ReadonlySet<unknown> = new Set([
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
])

function handshakeReason(thrown: unknown) {
  if (CERTIFICATE.has((thrown as { code?: unknown } | null)?.code)) return 'store.certificate'
  const problem = pgHandshakeProblem(errorText(thrown))
  return problem === null ? undefined : HANDSHAKE[problem]
}

/** The user's error for one of PostgreSQL's: what was wrong, and what to do. */
export function storeFailure(thrown: unknown, name: string): unknown {
  if (thrown instanceof WakefulError) return thrown
  const text = errorText(thrown)
  if (thrown instanceof CorruptRow)
    return new WakefulError('store.damaged_row', { name, cause: text }, { cause: thrown })
  const code = codeOf(thrown)
  const reason =
    code === null ? handshakeReason(thrown) : REASONS.find(([pattern]) => pattern.test(code))?.[1]
  if (code === null && reason === undefined) return thrown
  return reason === undefined
    ? new WakefulError('store.unexpected', { name, cause: `${text} (${code})` }, { cause: thrown })
    : new WakefulError(reason, { name, cause: `PostgreSQL: ${text}` }, { cause: thrown })
}
