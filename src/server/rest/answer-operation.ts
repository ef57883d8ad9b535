import type { Context } from 'hono'
import type { Operation, OperationName } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type Authenticator, assertMay, type Caller } from '../auth/index.ts'
import type { CallContext, Reply } from '../calls/index.ts'
import {
  answerText,
  checked,
  hangUp,
  headersOf,
  readBody,
  refusal,
  requestId,
  traceOf,
  withIdempotencyKey,
} from '../http/index.ts'
import type { AppParts } from './app.ts'

/** A version as an answer writes it, with its quotes or without. */
const VERSION_TAG = /^(?:W\/)?"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"?$/
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
/** A proxy that gathers what it passes on would make a stream wait. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** Answers a request for an operation. */
export async function answerOperation(
  parts: AppParts,
  c: Context,
  name: OperationName,
  operation: Operation,
): Promise<Response> {
  const startedAt = parts.monotonic()
  const id = requestId(headersOf(c).get('x-request-id'), parts.newRequestId)
  const known = { method: operation.method, route: operation.path, requestId: id }
  let caller: Caller | null = null
  try {
    caller = await admitted(parts.authenticator, c, operation)
    assertMay(caller, operation.rights)
    const input = await inputOf(c, operation, parts.bodyBytesMax)
    const call = parts.calls[name] as (input: unknown, around: CallContext) => Promise<Reply>
    const reply = await call(input, aroundOf(c, caller, operation))
    parts.onAnswered({ ...known, status: reply.status, caller, thrown: null }, startedAt)
    return response(parts, c, reply, id)
  } catch (thrown) {
    const told = refusal(thrown, id)
    const { status } = told
    parts.onAnswered({ ...known, status, caller, thrown: status >= 500 ? thrown : null }, startedAt)
    return told
  }
}

function response(parts: AppParts, c: Context, reply: Reply, id: string): Response {
  const { status, stream, json, type, version } = reply
  const headers = {
    ...(stream === undefined ? JSON_HEADERS : STREAM_HEADERS),
    ...(type !== undefined && { 'content-type': type }),
    'x-request-id': id,
    ...(version !== undefined && { etag: `"${version}"` }),
  }
  // Where pages may call, what is said to them is added to the answer on its way.
  if (stream === undefined && parts.allowedOrigins.size === 0) return answerText(c, status, json, headers)
  return new Response(stream ?? json, { status, headers })
}

function admitted(
  authenticator: Authenticator,
  c: Context,
  { byToken, takesTicket }: Operation,
): Promise<Caller> {
  const headers = headersOf(c)
  const ticket = takesTicket === true ? searchOf(c).get('ticket') : null
  if (ticket !== null) return authenticator.admitTicket(ticket, headers, 'rest')
  const token = byToken === true ? searchOf(c).get('token') : null
  return token === null ? authenticator.admit(headers, 'rest') : authenticator.admitToken(token, headers)
}

/** What the call is given: parameters, query and body, each checked against its contract. */
async function inputOf(c: Context, operation: Operation, bodyBytesMax: number) {
  return {
    params: operation.params === undefined ? {} : paramsOf(c, operation.params),
    query: queryOf(c, operation),
    body: operation.body === undefined ? {} : await bodyOf(c, operation, bodyBytesMax),
  }
}

/** A name that cannot be decoded would be taken as it is written, and so for another's. */
function paramsOf(c: Context, params: NonNullable<Operation['params']>): unknown {
  const [path] = c.req.url.split('?', 1)
  if (path!.includes('%') && !isDecodable(path!))
    throw new WakefulError(
      'invalid_request',
      'the path is not percent-encoded UTF-8: a % that means itself is written %25',
    )
  return checked(params, c.req.param())
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function queryOf(c: Context, { query }: Operation): unknown {
  const given = Object.create(null) as Record<string, string>
  for (const [name, value] of searchOf(c)) {
    if (name in given)
      throw new WakefulError('invalid_request', `${JSON.stringify(name)} is given twice in the query`)
    given[name] = value
  }
  if (query !== undefined) return checked(query, given)
  const [unknown] = Object.keys(given)
  if (unknown === undefined) return {}
  throw new WakefulError(
    'invalid_request',
    `this call takes no query: ${JSON.stringify(unknown.slice(0, 60))} is unknown`,
  )
}

function searchOf({ req: { url } }: Context): URLSearchParams {
  return url.includes('?') ? new URL(url).searchParams : new URLSearchParams()
}

async function bodyOf(c: Context, operation: Operation, bytesMax: number): Promise<unknown> {
  const { body, bodyOptional, idempotencyHeader } = operation
  const read = await readBody(c, bytesMax)
  const given =
    idempotencyHeader === undefined ? read : withIdempotencyKey(read, headersOf(c), idempotencyHeader)
  if (given === undefined && bodyOptional === true) return {}
  if (given === undefined)
    throw new WakefulError('invalid_request', 'the body is missing: it is a JSON object')
  return checked(body!, given)
}

function aroundOf(c: Context, caller: Caller, { ifMatch, takesTicket }: Operation): CallContext {
  const headers = headersOf(c)
  const place = takesTicket === true ? headers.get('last-event-id') : null
  const match = ifMatch === true ? headers.get('if-match') : null
  return {
    caller,
    // Made only where somebody looks at it: few calls wait for anything.
    get signal() {
      return c.req.raw.signal
    },
    ...(match !== null && match !== '*' && { seen: versionIn(match) }),
    ...(place !== null && place !== '' && { lastEventId: place }),
    ...(takesTicket === true && { hangUp: () => hangUp(c) }),
    ...traceOf(headers.get('traceparent')),
  }
}

function versionIn(match: string): string {
  const found = VERSION_TAG.exec(match.trim())?.[1]
  if (found !== undefined) return found
  throw new WakefulError(
    'invalid_request',
    'If-Match must be the ETag that an alarm was answered with, such as "2030-01-01T09:00:00.000Z", or *',
  )
}
