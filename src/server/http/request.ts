import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import type { z } from 'zod'
import { isTraceparent } from '../../alarm/index.ts'
import { BODY_VERBATIM, type Operation } from '../../contracts/index.ts'
import { display, WakefulError } from '../../error.ts'
import { unknownWireField } from '../../errors/index.ts'
import { readJson, type Verbatim } from '../../json/index.ts'
import { answerEarly } from './early-answers.ts'
import { wrongFields } from './wrong-fields.ts'

/** What reads a request's headers. */
export type HeaderReader = Pick<Headers, 'get'>

/** Headers that identify the caller. If one is repeated, two readers of a request could use different values. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'authorization', 'wakeful-tenant', 'wakeful-owner'])
const HEALTH_CHECK = /^\/(?:healthz|readyz)(?:$|\?)/
/** A request id is returned and logged, so it must be short and harmless in a header. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/
/** How keys, secrets, and the tokens of calendars and tickets begin: none of them may be returned or logged. */
const SECRET = /(?:wk|wf|wt|whsec)_/
/** In characters. Larger responses are written as bytes. */
const LARGE = 16_384

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const decoder = new TextDecoder('utf-8', { fatal: true })
/** Beyond this many chunks, they must have this many bytes on average: a tiny chunk costs more than it holds. */
const CHUNKS_MAX = 1_000
const CHUNK_BYTES_MIN = 64

/** What the Node adapter passes beside the request. */
interface NodeEnv {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
}

/** A request's headers as Node has parsed them: to find one in the framework's copy costs several times as much. */
export function headersOf(c: Context): HeaderReader {
  const { incoming } = nodeOf(c)
  return incoming === undefined ? c.req.raw.headers : nodeHeaders(incoming)
}

/** The headers of a request of Node. */
export function nodeHeaders({ headers }: IncomingMessage): HeaderReader {
  return {
    get: (name) => {
      const value = headers[name]
      return value === undefined ? null : String(value)
    },
  }
}

/** A header that must be there once and is repeated, as the request spells it. */
export function duplicateHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!SINGLE.has(name)) continue
    if (seen.has(name)) return rawHeaders[at]
    seen.add(name)
  }
  return undefined
}

/** Answers the requests that a proxy and this server could read differently (request smuggling), and passes on the others. */
export function refuseAmbiguous(
  answer: (...request: Parameters<RequestListener>) => unknown,
): RequestListener {
  return (incoming, outgoing) => {
    const duplicate = duplicateHeader(incoming)
    const coding = incoming.headers['transfer-encoding'] ?? 'chunked'
    if (duplicate !== undefined)
      answerEarly(outgoing, 400, `The request has ${duplicate} twice. Send it once.`)
    else if (coding.toLowerCase() === 'chunked') void answer(incoming, outgoing)
    else answerEarly(outgoing, 400, 'the only Transfer-Encoding supported is chunked')
  }
}

/**
 * Gives the plain health checks of load balancers a host. They are HTTP/1.0 without `Host`, and a check that is refused takes
 * this server out of service. No answer about health depends on the host.
 */
export function withCheckHost(answer: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const { headers, httpVersion, url = '' } = incoming
    if (httpVersion === '1.0' && headers.host === undefined && HEALTH_CHECK.test(url))
      headers.host = 'localhost'
    answer(incoming, outgoing)
  }
}

/** The id of a request: the caller's `x-request-id` if it is well-formed and not a secret, else a new one. */
export function requestId(headers: HeaderReader, create: () => string = randomUUID): string {
  const id = headers.get('x-request-id')
  return id !== null && REQUEST_ID.test(id) && !SECRET.test(id) ? id : create()
}

/** The W3C trace of a request. A malformed one is ignored, as the standard requires. */
export function traceOf(traceparent: unknown): { readonly traceparent?: string } {
  return typeof traceparent === 'string' && isTraceparent(traceparent) ? { traceparent } : {}
}

/** Answers with a text directly, without a `Response` that the adapter would take apart again. */
export function answerText(
  c: Context,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): Response {
  const { outgoing } = nodeOf(c)
  if (outgoing === undefined) return new Response(text, { status, headers })
  if (!outgoing.destroyed && !outgoing.headersSent) {
    // A response that may wait for its reader waits as bytes: they take less memory, and are counted as such. A small one
    // is sent together with its head.
    const body = text.length > LARGE ? Buffer.from(text) : text
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    outgoing.end(body)
  }
  return RESPONSE_ALREADY_SENT
}

/** Closes the connection of a request, whatever was sent of its response. */
export function disconnect(c: Context): void {
  nodeOf(c).outgoing?.destroy()
}

/** The request and the response of Node; absent where a test calls the app directly. */
function nodeOf(c: Context): NodeEnv {
  return (c.env as NodeEnv | undefined) ?? {}
}

/** Reads a request's body as JSON, with what users wrote kept as text; undefined if there is no body. */
export async function readBody(
  c: Context,
  bytesMax: number,
  verbatim: Verbatim = BODY_VERBATIM,
): Promise<unknown> {
  const headers = headersOf(c)
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw new WakefulError('body.content_encoding', { encoding: display(encoding.slice(0, 60)) })
  if (Number(headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const bytes = await readChunks(c, bytesMax)
  if (bytes.byteLength === 0) return undefined
  const type = headers.get('content-type')
  if (type === null || !JSON_TYPE.test(type))
    throw new WakefulError('body.content_type', { type: JSON.stringify(type ?? 'none') })
  return readJson(decode(bytes), verbatim)
}

/** A body with the key of its `Idempotency-Key` header, which may be quoted as in the header's draft standard. */
export function withIdempotencyKey(
  body: unknown,
  headers: HeaderReader,
  accepted: NonNullable<Operation['idempotencyHeader']>,
): unknown {
  const header = headers.get('idempotency-key')
  if (header !== null && !accepted) throw new WakefulError('request.idempotency_header', {})
  if (header === null || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const key = /^"(.*)"$/.exec(header.trim())?.[1] ?? header.trim()
  const { idempotency_key: inBody = key } = body as { idempotency_key?: unknown }
  if (inBody === key) return { ...body, idempotency_key: key }
  throw new WakefulError('request.idempotency_keys_differ', {})
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new WakefulError('body.not_utf8', {})
  }
}

/** The body as Node receives it. Nothing is kept beyond the maximum. */
function readChunks(c: Context, bytesMax: number): Promise<Uint8Array> {
  const { incoming } = nodeOf(c)
  if (incoming === undefined || incoming.readableEnded) return Promise.resolve(new Uint8Array())
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const chunks: Uint8Array[] = []
  let size = 0
  const keep = (chunk: Uint8Array) => {
    size += chunk.byteLength
    chunks.push(chunk)
    const isTooLarge = size > bytesMax
    if (!isTooLarge && (chunks.length <= CHUNKS_MAX || size >= chunks.length * CHUNK_BYTES_MIN)) return
    incoming.off('data', keep)
    if (isTooLarge) reject(tooLarge(bytesMax))
    // Without an answer: to send one, the rest would have to be read.
    else incoming.destroy()
  }
  // The caller hung up. That is not an error of the server.
  const cutOff = () => reject(new WakefulError('body.cut_off', {}))
  incoming.on('data', keep)
  incoming.once('end', () => {
    // Every request is closed in the end.
    incoming.off('close', cutOff)
    resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  })
  incoming.once('error', cutOff)
  incoming.once('close', cutOff)
  return promise
}

function tooLarge(bytesMax: number): WakefulError {
  return new WakefulError('body.too_large', { max: bytesMax })
}

/** Validates the input against its contract. */
export function checked(schema: z.ZodObject, input: unknown): unknown {
  const parsed = schema.safeParse(input, { reportInput: true })
  if (parsed.success) {
    assertPlainNames(input)
    return parsed.data
  }
  throw wrongFields(parsed.error, schema)
}

/** Zod drops the name `__proto__` silently where any name is allowed; refused, so that nothing is dropped unnoticed. */
export function assertPlainNames(input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  if (Object.hasOwn(input, '__proto__')) throw unknownWireField('__proto__', [])
  for (const each of Object.values(input)) assertPlainNames(each)
}
