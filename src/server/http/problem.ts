import { randomUUID } from 'node:crypto'
import { type ErrorCode, WakefulError } from '../../error.ts'
import { type Interface, render, toWire } from '../../errors/index.ts'

/** What each code is over HTTP, and its title. */
const STATUSES: Readonly<Record<ErrorCode, readonly [status: number, title: string]>> = {
  invalid_request: [400, 'Invalid request'],
  invalid_time: [400, 'Invalid time'],
  invalid_rule: [400, 'Invalid rule'],
  invalid_timezone: [400, 'Unknown time zone'],
  payload_too_large: [413, 'Payload too large'],
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not found'],
  conflict: [409, 'Conflict'],
  already_ended: [409, 'Already ended'],
  cursor_expired: [410, 'Cursor expired'],
  quota_exceeded: [429, 'Quota exceeded'],
  rate_limited: [429, 'Too many requests'],
  store_unavailable: [503, 'Store unavailable'],
  schema_too_new: [503, 'Schema too new'],
  internal: [500, 'Internal error'],
}

/** The media type of problem documents. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** The status of each code. */
export const STATUS_OF = Object.fromEntries(
  Object.entries(STATUSES).map(([code, [status]]) => [code, status]),
) as Readonly<Record<ErrorCode, number>>

/** What was thrown, as a problem (RFC 9457). What concerns only operators is `internal`, without its details. */
export function problemOf(
  thrown: unknown,
  audience: 'callers' | 'operators' = 'callers',
  where: Interface = 'wire',
) {
  const error = audience === 'operators' && thrown instanceof WakefulError ? thrown : publicError(thrown)
  const { code } = error
  const [status, title] = STATUSES[code]
  const errors = error.errors ?? (error.field !== undefined || unknownName(error) ? [error] : [])
  return {
    type: `urn:wakeful:problem:${code}`,
    title,
    status: error.reason === 'body.content_encoding' ? 415 : status,
    code,
    detail: render(error, where),
    ...toWire(error),
    ...(errors.length > 0 && { errors: errors.map((each) => fieldError(each, where)) }),
  }
}

/** The error that callers may see: others name the address of the store, and are in the log. */
function publicError(thrown: unknown): WakefulError {
  if (!(thrown instanceof WakefulError) || thrown.code === 'internal') return new WakefulError('internal', {})
  if (thrown.code === 'schema_too_new') return new WakefulError('store.schema_changed', {})
  // What says when to try again was written for callers.
  if (thrown.code === 'store_unavailable' && thrown.retryAfterMs === undefined)
    return new WakefulError('store.unavailable', {})
  return thrown
}

/** The error of one field, with its path; an unknown field has the path at which it was found. */
function fieldError(error: WakefulError, where: Interface) {
  const { field, ...data } = toWire(error)
  const unknown = unknownName(error)
  const path = [field, unknown].filter((part) => part !== undefined)
  return { ...data, field: path.join('.'), detail: render(error, where) }
}

/** The name of an unknown field, which is a parameter: it has no other name in another interface. */
function unknownName({ reason, params }: WakefulError): string | undefined {
  return reason === 'field.unknown' ? String(params.name) : undefined
}

/** What was thrown as a response: a problem document, with its code's status or another, and the headers that go with it. */
export function refusal(thrown: unknown, requestId: string = randomUUID(), status?: number): Response {
  const found = problemOf(thrown)
  const problem = { ...found, status: status ?? found.status }
  return new Response(JSON.stringify({ ...problem, request_id: requestId }), {
    status: problem.status,
    headers: {
      'content-type': PROBLEM_TYPE,
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(problem.status === 401 && { 'www-authenticate': 'Bearer realm="wakeful"' }),
      ...retryAfter(thrown),
      ...(problem.status === 415 && { 'accept-encoding': 'identity' }),
      // The rest of the body is not read.
      ...([413, 415].includes(problem.status) && { connection: 'close' }),
    },
  })
}

/** The header that says when to try again, in whole seconds. */
export function retryAfter(thrown: unknown): { 'retry-after'?: string } {
  const ms = thrown instanceof WakefulError ? thrown.retryAfterMs : undefined
  return ms === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) }
}
