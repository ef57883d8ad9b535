import {
  type ErrorCode,
  type ErrorData,
  fromWire,
  isErrorCode,
  libraryField,
  WakefulError,
  type WireError,
} from '../errors/core.ts'

/** The codes of responses without a problem document, which come from a proxy or another program. */
const CODE_OF: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  409: 'conflict',
  413: 'payload_too_large',
  429: 'rate_limited',
  502: 'store_unavailable',
  503: 'store_unavailable',
  504: 'store_unavailable',
}

/** The error of a response: the one that the library would throw. */
export function errorOf(status: number, text: string, url: string): WakefulError {
  const problem = read(text)
  const known = CODE_OF[status] ?? 'internal'
  // A gateway in front of the server may send no reason.
  const error = fromWire({ reason: 'unknown', params: {}, ...problem })
  if (error === null || typeof problem.code !== 'string' || typeof problem.detail !== 'string')
    return new WakefulError('client.not_wakeful', { url, status }, { code: known })
  // A wrong URL, which must not look like an alarm that does not exist.
  if (error.reason === 'request.no_such_call')
    return new WakefulError('client.wrong_address', { call: String(error.params.call), url })
  // A newer server may have a code that this version does not know; the status is always known.
  const code = isErrorCode(problem.code) ? problem.code : known
  const errors = nested(problem.errors, error.reason)
  return WakefulError.from({
    ...inLibraryNames(error),
    code,
    message: problem.detail,
    ...(errors && { errors }),
  })
}

/** The errors by field, unless the only one is the error itself. */
function nested(errors: unknown, reason: string): ErrorData[] | null {
  if (!Array.isArray(errors)) return null
  const all = errors.flatMap((each: { detail?: unknown }) => {
    const error = fromWire(each)
    if (error === null) return []
    // The field of this error is the parent of the unknown one, whose name is in `params`.
    const { field, ...data } = inLibraryNames(error)
    const parent = error.reason === 'field.unknown' ? parentOf(field) : field
    return [{ ...data, message: String(each.detail), ...(parent !== undefined && { field: parent }) }]
  })
  return all.length === 0 || (all.length === 1 && all[0]!.reason === reason) ? null : all
}

/** The name of an unknown option as the caller wrote it: the client has sent it in snake_case. */
function inLibraryNames(error: WireError): WireError {
  if (error.reason !== 'field.unknown') return error
  return { ...error, params: { ...error.params, name: libraryField(String(error.params.name)) } }
}

function parentOf(field: string | undefined): string | undefined {
  const end = field?.lastIndexOf('.') ?? -1
  return end < 0 ? undefined : field!.slice(0, end)
}

/** The result of a call, or null if it is not found. */
export async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (thrown) {
    if (thrown instanceof WakefulError && thrown.code === 'not_found') return null
    throw thrown
  }
}

function read(text: string): Readonly<Record<string, unknown>> {
  try {
    const problem: unknown = JSON.parse(text)
    return typeof problem === 'object' && problem !== null ? (problem as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
