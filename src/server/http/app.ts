import { type Context, Hono } from 'hono'
import type { z } from 'zod'
import { type Operation, type OperationName, operations } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { assertMay, type Caller } from '../caller.ts'
import type { Around, Reply } from '../calls/call.ts'
import type { Calls } from '../calls/index.ts'
import { requestId } from '../logs/index.ts'
import { traceOf } from '../trace.ts'
import { readBody } from './body.ts'
import { crossOrigin } from './cors.ts'
import { answerText, type HeaderReader, hangUp, headersOf } from './node-side.ts'
import { problemOf, refuse, TryLater } from './problem.ts'

/** Lets callers in: says who they are, or refuses. */
export interface Door {
  admit(headers: HeaderReader, via: string): Caller | Promise<Caller>
  /** Lets in who has a secret address: to read, and nothing else. */
  admitToken(token: string, headers: HeaderReader): Promise<Caller>
  /** Lets in who has a one-time ticket, as the one it was made for. */
  admitTicket(ticket: string, headers: HeaderReader, via: string): Promise<Caller>
}

/** What is known of a request once it is answered. */
export interface Answered {
  readonly method: string
  /** The route's pattern, never the path itself: ids are no names of metrics. */
  readonly route: string
  readonly status: number
  readonly requestId: string
  readonly caller: Caller | null
  readonly thrown: unknown
}

/** What the HTTP side is made of. */
export interface AppParts {
  readonly door: Door
  readonly calls: Calls
  /** The origins whose pages may call. */
  readonly allowedOrigins: ReadonlySet<string>
  readonly bodyBytesMax: number
  /** Makes the id of a request that brings none. */
  readonly newRequestId: () => string
  readonly onAnswered: (answered: Answered, startedAt: number) => void
  readonly monotonic: () => number
}

/** A version as an answer writes it, with its quotes or without. */
const VERSION_TAG = /^(?:W\/)?"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"?$/
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
/** A proxy that gathers what it passes on would make a stream wait. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** The routes of every operation. */
export function buildApp(parts: AppParts): Hono {
  const app = new Hono()
  // Where no page may call there is nothing to agree to, and calls take the shorter way.
  if (parts.allowedOrigins.size > 0) app.use(crossOrigin(parts.allowedOrigins, (c) => refuseOrigin(parts, c)))
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][])
    app.on(operation.method, honoPath(operation.path), (c) => answer(parts, c, name, operation))
  for (const [path, methods] of methodsByPath())
    app.all(honoPath(path), (c) => refuseMethod(parts, c, path, methods))
  app.notFound((c) => {
    const thrown = new WakefulError(
      'not_found',
      `there is no call ${c.req.method} ${c.req.path.slice(0, 200)}; /openapi.json lists them, and /llms.txt the docs`,
    )
    return refused(parts, c, thrown, { route: 'unmatched', caller: null })
  })
  return app
}

function refuseOrigin(parts: AppParts, c: Context): Response {
  const origin = JSON.stringify((c.req.raw.headers.get('origin') ?? '').slice(0, 100))
  const thrown = new WakefulError(
    'forbidden',
    `a page of ${origin} may not call this server: allowed_origins lists those that may`,
  )
  return refused(parts, c, thrown, { route: 'unmatched', caller: null })
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

async function answer(
  parts: AppParts,
  c: Context,
  name: OperationName,
  operation: Operation,
): Promise<Response> {
  const startedAt = parts.monotonic()
  let caller: Caller | null = null
  try {
    caller = await admitted(parts.door, c, operation)
    assertMay(caller, operation.rights)
    const input = await inputOf(c, operation, parts.bodyBytesMax)
    const reply = await (parts.calls[name] as (input: unknown, around: Around) => Promise<Reply>)(
      input,
      aroundOf(c, caller, operation),
    )
    const requestId = requestIdOf(parts, c)
    parts.onAnswered(
      {
        method: operation.method,
        route: operation.path,
        status: reply.status,
        requestId,
        caller,
        thrown: null,
      },
      startedAt,
    )
    return response(parts, c, reply, requestId)
  } catch (thrown) {
    return refused(parts, c, thrown, { route: operation.path, caller }, startedAt)
  }
}

function response(parts: AppParts, c: Context, reply: Reply, requestId: string): Response {
  const headers = {
    ...(reply.stream === undefined ? JSON_HEADERS : STREAM_HEADERS),
    ...(reply.type !== undefined && { 'content-type': reply.type }),
    'x-request-id': requestId,
    ...(reply.version !== undefined && { etag: `"${reply.version}"` }),
  }
  // Where pages may call, what is said to them is added to the answer on its way.
  if (reply.stream === undefined && parts.allowedOrigins.size === 0)
    return answerText(c, reply.status, reply.json, headers)
  return c.body(reply.stream ?? reply.json, reply.status as 200, headers)
}

function admitted(door: Door, c: Context, { byToken, takesTicket }: Operation): Caller | Promise<Caller> {
  const ticket = takesTicket === true ? c.req.query('ticket') : undefined
  if (ticket !== undefined) return door.admitTicket(ticket, headersOf(c), 'rest')
  const token = byToken === true ? c.req.query('token') : undefined
  return token === undefined ? door.admit(headersOf(c), 'rest') : door.admitToken(token, headersOf(c))
}

/** What the call is given: parameters, query and body, each checked against its contract. */
async function inputOf(c: Context, operation: Operation, bodyBytesMax: number) {
  return {
    params: operation.params === undefined ? {} : checked(operation.params, c.req.param()),
    query: queryOf(c, operation),
    body: operation.body === undefined ? {} : await bodyOf(c, operation, bodyBytesMax),
  }
}

function queryOf(c: Context, { query }: Operation): unknown {
  const given = c.req.url.includes('?') ? c.req.queries() : {}
  const twice = Object.keys(given).find((name) => given[name]!.length > 1)
  if (twice !== undefined)
    throw new WakefulError('invalid_request', `${JSON.stringify(twice)} is given twice in the query`)
  const single = Object.fromEntries(Object.entries(given).map(([name, [value]]) => [name, value]))
  if (query !== undefined) return checked(query, single)
  const [unknown] = Object.keys(single)
  if (unknown === undefined) return {}
  throw new WakefulError(
    'invalid_request',
    `this call takes no query: ${JSON.stringify(unknown.slice(0, 60))} is unknown`,
  )
}

async function bodyOf(c: Context, { body, bodyOptional }: Operation, bytesMax: number): Promise<unknown> {
  const given = await readBody(c.req.raw, headersOf(c), bytesMax)
  if (given === undefined && bodyOptional === true) return {}
  if (given === undefined)
    throw new WakefulError('invalid_request', 'the body is missing: it is a JSON object')
  return checked(body!, given)
}

/** What was given, checked against its contract. */
export function checked(schema: z.ZodObject, given: unknown): unknown {
  const parsed = schema.safeParse(given)
  if (parsed.success) {
    assertPlainNames(given)
    return parsed.data
  }
  throw refuse(parsed.error, Object.keys(schema.shape))
}

/** Zod passes over this one name where any name is allowed: what is not kept must not look as if it were. */
function assertPlainNames(given: unknown): void {
  if (typeof given !== 'object' || given === null) return
  if (Object.hasOwn(given, '__proto__'))
    throw new WakefulError('invalid_request', 'unknown field "__proto__"')
  for (const each of Object.values(given)) assertPlainNames(each)
}

function aroundOf(c: Context, caller: Caller, { ifMatch, takesTicket }: Operation): Around {
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

function refused(
  parts: AppParts,
  c: Context,
  thrown: unknown,
  known: Pick<Answered, 'route' | 'caller'>,
  startedAt = parts.monotonic(),
  status?: number,
): Response {
  const requestId = requestIdOf(parts, c)
  const response = refusal(thrown, requestId, status)
  const isOurs = response.status >= 500
  parts.onAnswered(
    { method: c.req.method, status: response.status, requestId, ...known, thrown: isOurs ? thrown : null },
    startedAt,
  )
  return response
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

function requestIdOf(parts: AppParts, c: Context): string {
  return requestId(headersOf(c).get('x-request-id') ?? undefined, parts.newRequestId)
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of Object.values(operations))
    methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

function refuseMethod(parts: AppParts, c: Context, path: string, methods: readonly string[]): Response {
  const thrown = new WakefulError('not_found', `${path} has no ${c.req.method}: it has ${methods.join(', ')}`)
  const response = refused(parts, c, thrown, { route: path, caller: null }, undefined, 405)
  response.headers.set('allow', methods.join(', '))
  return response
}
