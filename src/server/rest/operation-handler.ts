import type { Context, MiddlewareHandler } from 'hono'
import type { Operation, OperationName } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { assertMay, type Caller } from '../auth/index.ts'
import type { CallContext, Reply } from '../calls/index.ts'
import {
  answerText,
  checked,
  disconnect,
  headersOf,
  readBody,
  refusal,
  requestId,
  traceOf,
  withIdempotencyKey,
} from '../http/index.ts'
import type { AppParts } from './app.ts'

/** A version as responses write it, with or without its quotes. */
const VERSION_TAG = /^(?:W\/)?"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"?$/
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
/** A proxy that buffers would hold back a stream. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** What answers the requests for one operation. */
export function operationHandler(
  parts: AppParts,
  name: OperationName,
  operation: Operation,
): MiddlewareHandler {
  const { method, path: route, rights, acceptsTicket } = operation
  const call = parts.calls[name] as (input: unknown, context: CallContext) => Promise<Reply>
  // A HEAD must not claim a wake or use up a ticket.
  const hasEffect = rights !== 'read' || acceptsTicket === true
  return async (c, next) => {
    if (hasEffect && c.req.method === 'HEAD') return next()
    const startedAt = parts.clock.monotonic()
    const id = requestId(headersOf(c), parts.newRequestId)
    let caller: Caller | null = null
    try {
      caller = await authenticate(parts, c, operation)
      assertMay(caller, rights)
      const input = {
        params: operation.params === undefined ? {} : paramsOf(c, operation.params),
        query: queryOf(c, operation),
        body: operation.body === undefined ? {} : await bodyOf(c, operation, parts.bodyBytesMax),
      }
      const reply = await call(input, contextOf(c, caller, operation))
      parts.onAnswered(
        { method, route, requestId: id, status: reply.status, caller, thrown: null },
        startedAt,
      )
      return responseOf(parts, c, reply, id)
    } catch (thrown) {
      const response = refusal(thrown, id)
      const { status } = response
      const logged = status >= 500 ? thrown : null
      parts.onAnswered({ method, route, requestId: id, status, caller, thrown: logged }, startedAt)
      return response
    }
  }
}

function responseOf(parts: AppParts, c: Context, reply: Reply, id: string): Response {
  const { status, stream, json, type, version } = reply
  const headers = {
    ...(stream === undefined ? JSON_HEADERS : STREAM_HEADERS),
    ...(type !== undefined && { 'content-type': type }),
    'x-request-id': id,
    ...(version !== undefined && { etag: `"${version}"` }),
  }
  // With allowed origins, CORS headers are added to the response later.
  if (stream === undefined && parts.allowedOrigins.size === 0) return answerText(c, status, json, headers)
  return new Response(stream ?? json, { status, headers })
}

function authenticate(
  { authenticator }: AppParts,
  c: Context,
  { byToken, acceptsTicket }: Operation,
): Promise<Caller> {
  const headers = headersOf(c)
  const ticket = acceptsTicket === true ? searchOf(c).get('ticket') : null
  if (ticket !== null) return authenticator.admitTicket(ticket, headers, 'rest')
  const token = byToken === true ? searchOf(c).get('token') : null
  return token === null ? authenticator.admit(headers, 'rest') : authenticator.admitToken(token, headers)
}

/** A path that cannot be decoded would be taken literally, and so for the name of another alarm. */
function paramsOf(c: Context, params: NonNullable<Operation['params']>): unknown {
  const [path] = c.req.url.split('?', 1)
  if (path!.includes('%') && !isDecodable(path!)) throw new WakefulError('request.path_encoding', {})
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
  const values = Object.create(null) as Record<string, string>
  for (const [name, value] of searchOf(c)) {
    if (name in values) throw new WakefulError('request.query_twice', { name: JSON.stringify(name) })
    values[name] = value
  }
  if (query !== undefined) return checked(query, values)
  const [unknown] = Object.keys(values)
  if (unknown === undefined) return {}
  throw new WakefulError('request.no_query', { name: JSON.stringify(unknown.slice(0, 60)) })
}

function searchOf({ req: { url } }: Context): URLSearchParams {
  return url.includes('?') ? new URL(url).searchParams : new URLSearchParams()
}

async function bodyOf(c: Context, operation: Operation, bytesMax: number): Promise<unknown> {
  const { body, bodyOptional, idempotencyHeader } = operation
  const read = await readBody(c, bytesMax)
  const input =
    idempotencyHeader === undefined ? read : withIdempotencyKey(read, headersOf(c), idempotencyHeader)
  if (input === undefined && bodyOptional === true) return {}
  if (input === undefined) throw new WakefulError('body.missing', { expected: 'a JSON object' })
  return checked(body!, input)
}

function contextOf(c: Context, caller: Caller, { ifMatch, acceptsTicket }: Operation): CallContext {
  const headers = headersOf(c)
  const lastEventId = acceptsTicket === true ? headers.get('last-event-id') : null
  const match = ifMatch === true ? headers.get('if-match') : null
  return {
    caller,
    // A getter: Node creates the signal on first use, and few calls wait for anything.
    get signal() {
      return c.req.raw.signal
    },
    ...(match !== null && match !== '*' && { seen: versionIn(match) }),
    ...(lastEventId !== null && lastEventId !== '' && { lastEventId }),
    ...(acceptsTicket === true && { disconnect: () => disconnect(c) }),
    ...traceOf(headers.get('traceparent')),
  }
}

function versionIn(match: string): string {
  const found = VERSION_TAG.exec(match.trim())?.[1]
  if (found !== undefined) return found
  throw new WakefulError('request.if_match', {})
}
