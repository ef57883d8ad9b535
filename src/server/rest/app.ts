import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { type Operation, type OperationName, operations } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import { type Authenticator, assertMay, type Caller } from '../auth/index.ts'
import type { CallContext, Calls, Reply } from '../calls/index.ts'
import {
  answerText,
  checked,
  crossOrigin,
  disconnect,
  headersOf,
  readBody,
  refusal,
  requestId,
  traceOf,
  withIdempotencyKey,
} from '../http/index.ts'
import type { RequestQueue } from '../limits/index.ts'
import type { Answered } from '../observability/index.ts'

/** What every HTTP interface is made of. */
export interface AppParts {
  readonly authenticator: Authenticator
  readonly calls: Calls
  /** The queue of reads that return a page. */
  readonly pages: RequestQueue
  /** The origins whose pages may call. */
  readonly allowedOrigins: ReadonlySet<string>
  readonly bodyBytesMax: number
  readonly clock: Pick<Clock, 'monotonic' | 'now'>
  readonly onAnswered: (answered: Answered, startedAt: number) => void
}

/** A version as responses write it, with or without its quotes. */
const VERSION_TAG = /^(?:W\/)?"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"?$/
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
/** A proxy that buffers would hold back a stream. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** A route for every operation, and the answers to unknown paths and methods. */
export function buildApp(parts: AppParts): Hono {
  const app = new Hono()
  if (parts.allowedOrigins.size > 0)
    app.use(
      crossOrigin(parts.allowedOrigins, (c) => {
        const origin = JSON.stringify((c.req.raw.headers.get('origin') ?? '').slice(0, 100))
        return refuse(parts, c, new WakefulError('access.origin', { origin }), { route: 'unmatched' })
      }),
    )
  const all = Object.entries(operations) as [OperationName, Operation][]
  for (const [name, operation] of all)
    app.on(operation.method, honoPath(operation.path), operationHandler(parts, name, operation))
  for (const [path, ofPath] of Map.groupBy(all, ([, operation]) => operation.path)) {
    const methods = ofPath.map(([, { method }]) => method)
    app.all(honoPath(path), (c) => refuseMethod(parts, c, path, methods))
  }
  app.notFound((c) => {
    const call = `${c.req.method} ${c.req.path.slice(0, 200)}`
    return refuse(parts, c, new WakefulError('request.no_such_call', { call }), { route: 'unmatched' })
  })
  return app
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** Answers a request with a method that its path does not have. */
export function refuseMethod(
  parts: AppParts,
  c: Context,
  path: string,
  methods: readonly string[],
): Response {
  const thrown = new WakefulError('request.no_such_method', { path, method: c.req.method, methods })
  const response = refuse(parts, c, thrown, { route: path, status: 405 })
  response.headers.set('allow', methods.join(', '))
  return response
}

interface Refused {
  readonly route: string
  readonly method?: string
  readonly id?: string
  readonly caller?: Caller | null
  readonly startedAt?: number
  /** Instead of the status of the error's code. */
  readonly status?: number
}

/** Answers with what was thrown, and reports the request as answered. */
export function refuse(parts: AppParts, c: Context, thrown: unknown, refused: Refused): Response {
  const { route, method = c.req.method, id = requestId(headersOf(c)), caller = null } = refused
  const response = refusal(thrown, id, refused.status)
  const { status } = response
  const logged = status >= 500 ? thrown : null
  const startedAt = refused.startedAt ?? parts.clock.monotonic()
  parts.onAnswered({ method, route, status, requestId: id, caller, thrown: logged }, startedAt)
  return response
}

function operationHandler(parts: AppParts, name: OperationName, operation: Operation): MiddlewareHandler {
  const { method, path: route, rights, acceptsTicket } = operation
  const call = parts.calls[name] as (input: unknown, context: CallContext) => Promise<Reply>
  // A HEAD must not claim a wake or use up a ticket.
  const hasEffect = rights !== 'read' || acceptsTicket === true
  return async (c, next) => {
    if (hasEffect && c.req.method === 'HEAD') return next()
    const startedAt = parts.clock.monotonic()
    const id = requestId(headersOf(c))
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
      return refuse(parts, c, thrown, { method, route, id, caller, startedAt })
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
  try {
    decodeURIComponent(c.req.url.split('?', 1)[0]!)
  } catch {
    throw new WakefulError('request.path_encoding', {})
  }
  return checked(params, c.req.param())
}

function queryOf(c: Context, { query, repeatable = [] }: Operation): unknown {
  const values = Object.create(null) as Record<string, string>
  for (const [name, value] of searchOf(c)) {
    if (name in values && repeatable.includes(name)) {
      values[name] += `,${value}`
      continue
    }
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
