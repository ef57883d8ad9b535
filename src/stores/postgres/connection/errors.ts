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

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'the server refuses the user or its password; check the URL'],
  [/^3D000$/, 'there is no such database; create it (createdb) or check the URL'],
  [/^42501$/, 'the user may not do this; `wakeful doctor` names what to grant it, or migrate as its owner'],
  [
    /^(?:3F000|42P01)$/,
    'a table is missing; `wakeful doctor` names it, and `wakeful migrate` makes those of a new schema',
  ],
  [
    /^25006$/,
    'the server takes no writes: a standby, or default_transaction_read_only is on; point the URL at the primary',
  ],
  [
    /^53300$/,
    'the server has no connection left; raise max_connections, run fewer processes, or put PgBouncer in between',
  ],
  [/^53/, 'the server is out of disk space or memory; nothing was written'],
  [
    /^55P03$/,
    'a row has been locked by another transaction for too long; end that transaction and try again',
  ],
  [/^57014$/, 'the statement took too long and was ended (statement_timeout); nothing was written'],
  [
    /^(?:08P01|26000|42P05)$/,
    'a pooler stands in between and cannot do this; leave ?pooler=no and ?prepare=yes out of the URL',
  ],
  [/^40/, 'other transactions were in the way again and again; try again'],
  [/^25P03$/, 'the process stood still within a transaction, which was rolled back; try again'],
  [/^(?:E[A-Z]|08|57P)/, 'the server cannot be reached; check that it runs and that the URL is right'],
]

/** Advice for errors before a session begins. */
const HANDSHAKE = {
  password:
    'the server wants a password; put it into the URL (postgres://user:password@…, percent-encoded) or into PGPASSWORD',
  no_tls:
    'the server has no TLS, which the URL asks for; switch it on there, or leave sslmode out of the URL (sslmode=disable) in a network that you trust',
  certificate:
    'the server’s certificate cannot be verified; name who signed it (?sslrootcert=ca.pem), and the host as the certificate does',
} as const

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

function handshakeAdvice(thrown: unknown): string | undefined {
  if (CERTIFICATE.has((thrown as { code?: unknown } | null)?.code)) return HANDSHAKE.certificate
  const problem = pgHandshakeProblem(errorText(thrown))
  return problem === null ? undefined : HANDSHAKE[problem]
}

/** The user's error for one of PostgreSQL's: what was wrong, and what to do. */
export function storeFailure(thrown: unknown, name: string): unknown {
  if (thrown instanceof WakefulError) return thrown
  if (thrown instanceof CorruptRow)
    return new WakefulError('store.damaged_row', { name, text: errorText(thrown) }, { cause: thrown })
  const code = codeOf(thrown)
  const text = errorText(thrown)
  const advice = code === null ? handshakeAdvice(thrown) : ADVICE.find(([pattern]) => pattern.test(code))?.[1]
  if (code === null && advice === undefined) return thrown
  if (advice === undefined)
    return new WakefulError('store.unexpected', { name, text: `${text} (${code})` }, { cause: thrown })
  return new WakefulError(
    'store.failed',
    { name, detail: advice, text: `PostgreSQL: ${text}` },
    { cause: thrown },
  )
}
