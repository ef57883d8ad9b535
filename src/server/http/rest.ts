import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { assertMay, type Caller } from '../caller.ts'
import type { Around, Reply } from '../calls/call.ts'
import { requestId } from '../logs/index.ts'
import { traceOf } from '../trace.ts'
import type { AppParts, Door } from './app.ts'
import { type Answer, Ask } from './ask.ts'
import { assertUnpacked, jsonOf, tooLarge, withIdempotencyKey } from './body.ts'
import { checked } from './checked.ts'
import { originHeaders } from './cors.ts'
import { problemAnswer } from './problem.ts'
import { type Route, routeOf } from './routes.ts'

/** A version as an answer writes it, with its quotes or without. */
const VERSION_TAG = /^(?:W\/)?"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"?$/
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
/** A proxy that gathers what it passes on would make a stream wait. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** Answers a request where it is for an operation; whether it was. */
export function answerOperation(
  parts: AppParts,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): boolean {
  const route = routeOf(incoming)
  if (route === null) return false
  const ask = new Ask(incoming, outgoing, route)
  // What breaks once the answer has begun cannot be told any more.
  answer(parts, ask, route).catch(() => ask.hangUp())
  return true
}

async function answer(parts: AppParts, ask: Ask, { name, operation }: Route): Promise<void> {
  const startedAt = parts.monotonic()
  const id = requestId(ask.headers.get('x-request-id') ?? undefined, parts.newRequestId)
  const known = { method: operation.method, route: operation.path, requestId: id }
  let caller: Caller | null = null
  let told: Answer
  try {
    caller = await admitted(parts.door, ask, operation)
    assertMay(caller, operation.rights)
    const input = await inputOf(ask, operation, parts.bodyBytesMax)
    const call = parts.calls[name] as (input: unknown, around: Around) => Promise<Reply>
    const reply = await call(input, aroundOf(ask, caller, operation))
    parts.onAnswered({ ...known, status: reply.status, caller, thrown: null }, startedAt)
    told = answerOf(reply, id)
  } catch (thrown) {
    told = problemAnswer(thrown, id)
    const isOurs = told.status >= 500
    parts.onAnswered({ ...known, status: told.status, caller, thrown: isOurs ? thrown : null }, startedAt)
  }
  const more = originHeaders(parts.allowedOrigins, ask.headers)
  await ask.answer(more === null ? told : { ...told, headers: { ...told.headers, ...more } })
}

function answerOf(reply: Reply, id: string): Answer {
  const headers = {
    ...(reply.stream === undefined ? JSON_HEADERS : STREAM_HEADERS),
    ...(reply.type !== undefined && { 'content-type': reply.type }),
    'x-request-id': id,
    ...(reply.version !== undefined && { etag: `"${reply.version}"` }),
  }
  return { status: reply.status, headers, body: reply.stream ?? reply.json }
}

function admitted(door: Door, ask: Ask, { byToken, takesTicket }: Operation): Caller | Promise<Caller> {
  const ticket = takesTicket === true ? ask.query.get('ticket') : null
  if (ticket !== null) return door.admitTicket(ticket, ask.headers, 'rest')
  const token = byToken === true ? ask.query.get('token') : null
  return token === null ? door.admit(ask.headers, 'rest') : door.admitToken(token, ask.headers)
}

/** What the call is given: parameters, query and body, each checked against its contract. */
async function inputOf(ask: Ask, operation: Operation, bodyBytesMax: number) {
  return {
    params: operation.params === undefined ? {} : checked(operation.params, ask.params),
    query: queryOf(ask, operation),
    body: operation.body === undefined ? {} : await bodyOf(ask, operation, bodyBytesMax),
  }
}

function queryOf(ask: Ask, { query }: Operation): unknown {
  const given = Object.create(null) as Record<string, string>
  for (const [name, value] of ask.query) {
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

async function bodyOf(ask: Ask, operation: Operation, bytesMax: number): Promise<unknown> {
  const { body, bodyOptional, idempotencyHeader } = operation
  const read = jsonOf(await bytesOf(ask, bytesMax), ask.headers)
  const given =
    idempotencyHeader === undefined ? read : withIdempotencyKey(read, ask.headers, idempotencyHeader)
  if (given === undefined && bodyOptional === true) return {}
  if (given === undefined)
    throw new WakefulError('invalid_request', 'the body is missing: it is a JSON object')
  return checked(body!, given)
}

async function bytesOf(ask: Ask, bytesMax: number): Promise<Uint8Array> {
  assertUnpacked(ask.headers)
  if (Number(ask.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const bytes = await ask.read(bytesMax).catch((cause: unknown) => {
    // Whoever hangs up within a body has nobody's trouble but their own: it is no error of the server's.
    throw new WakefulError('invalid_request', 'the body broke off before its end', { cause })
  })
  if (bytes === null) throw tooLarge(bytesMax)
  return bytes
}

function aroundOf(ask: Ask, caller: Caller, { ifMatch, takesTicket }: Operation): Around {
  const { headers } = ask
  const place = takesTicket === true ? headers.get('last-event-id') : null
  const match = ifMatch === true ? headers.get('if-match') : null
  return {
    caller,
    get signal() {
      return ask.signal
    },
    ...(match !== null && match !== '*' && { seen: versionIn(match) }),
    ...(place !== null && place !== '' && { lastEventId: place }),
    ...(takesTicket === true && { hangUp: () => ask.hangUp() }),
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
