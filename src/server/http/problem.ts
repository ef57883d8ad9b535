import { type ErrorCode, errorText, WakefulError } from '../../error.ts'

/** What each code is over HTTP: the one table of it. */
export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  invalid_time: 400,
  invalid_rule: 400,
  invalid_timezone: 400,
  payload_too_large: 413,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  already_ended: 409,
  cursor_expired: 410,
  quota_exceeded: 429,
  rate_limited: 429,
  store_unavailable: 503,
  schema_too_new: 503,
  internal: 500,
}

const TITLES: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is not right',
  invalid_time: 'The time is not right',
  invalid_rule: 'The rule is not right',
  invalid_timezone: 'The time zone is not known',
  payload_too_large: 'Too large',
  unauthorized: 'A key is needed',
  forbidden: 'It is not allowed',
  not_found: 'There is none',
  conflict: 'It is not in a state for this',
  already_ended: 'It has ended',
  cursor_expired: 'The cursor is too old',
  quota_exceeded: 'The quota is used up',
  rate_limited: 'Too many requests',
  store_unavailable: 'The store does not answer',
  schema_too_new: 'The store is newer than this version',
  internal: 'Something is wrong here',
}

/** A refusal as it goes over the wire (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ErrorCode
  readonly detail: string
  /** The fields that are wrong, where the request's shape is. */
  readonly errors?: readonly FieldError[]
}

/** One wrong field. */
export interface FieldError {
  readonly field: string
  readonly detail: string
}

/** A request whose shape is wrong, field by field. */
export class InvalidRequest extends WakefulError {
  readonly errors: readonly FieldError[]

  constructor(errors: readonly FieldError[], detail = errors.map(told).join('; ')) {
    super('invalid_request', detail)
    this.errors = errors
  }
}

function told({ field, detail }: FieldError): string {
  return field === '' ? detail : `${field}: ${detail}`
}

/** A body that would have to be unpacked first. */
export class PackedBody extends WakefulError {
  constructor(encoding: string) {
    super(
      'invalid_request',
      `a body is sent as it is, not with Content-Encoding: ${JSON.stringify(encoding.slice(0, 60))}`,
    )
  }
}

/** Something asked for too often or too much: when it may be asked again. */
export class TryLater extends WakefulError {
  readonly retryAfterMs: number

  constructor(
    code: 'quota_exceeded' | 'rate_limited' | 'store_unavailable',
    message: string,
    retryAfterMs: number,
  ) {
    super(code, message)
    this.retryAfterMs = retryAfterMs
  }
}

/** What was thrown, as a problem; what is nobody's business but ours is `internal`, without its inside. */
export function problemOf(thrown: unknown, toWhom: 'callers' | 'operators' = 'callers'): Problem {
  if (!(thrown instanceof WakefulError)) return problem('internal', OWN_AFFAIR.internal!)
  if (thrown instanceof InvalidRequest)
    return { ...problem(thrown.code, errorText(thrown)), errors: thrown.errors }
  if (thrown instanceof PackedBody) return { ...problem(thrown.code, errorText(thrown)), status: 415 }
  const isTold = thrown instanceof TryLater || toWhom === 'operators'
  const own = isTold ? undefined : OWN_AFFAIR[thrown.code]
  const detail = own ?? inWireWords(errorText(thrown))
  const { field } = thrown
  return { ...problem(thrown.code, detail), ...(field !== undefined && { errors: [{ field, detail }] }) }
}

/** What callers are told of troubles that are not theirs: the rest names the store's address, and is in the log. */
const OWN_AFFAIR: Readonly<Partial<Record<ErrorCode, string>>> = {
  internal: 'an error of the server’s own; it is in its log',
  store_unavailable: 'the store does not answer just now: try again a little later',
  schema_too_new: 'the store was changed by a newer version than this server; its log says more',
}

function problem(code: ErrorCode, detail: string): Problem {
  return { type: `urn:wakeful:problem:${code}`, title: TITLES[code], status: STATUS_OF[code], code, detail }
}

const OPTION =
  /\b(?:idempotencyKey|conversationId|correlationId|maxFailures|completionTimeout|onFailure|createdBy|createdVia|updatedAt|occurrenceId|alarmId|backoff\.(?:baseMs|capMs))\b/g

/** The library's own messages name options as TypeScript does: on the wire they have other names. */
function inWireWords(message: string): string {
  return message.replace(OPTION, (word) => word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

/** What was thrown as a response: a problem document, with its code's status or another, and the headers that go with it. */
export function refusal(thrown: unknown, requestId: string, status?: number): Response {
  const told = problemOf(thrown)
  const problem = { ...told, status: status ?? told.status }
  return new Response(JSON.stringify({ ...problem, request_id: requestId }), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(problem.status === 401 && { 'www-authenticate': 'Bearer realm="wakeful"' }),
      ...(thrown instanceof TryLater && {
        'retry-after': String(Math.max(1, Math.ceil(thrown.retryAfterMs / 1000))),
      }),
      ...(problem.status === 415 && { 'accept-encoding': 'identity' }),
      // What is left of the body is not read.
      ...([413, 415].includes(problem.status) && { connection: 'close' }),
    },
  })
}
