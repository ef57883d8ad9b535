import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import { isTraceparent } from '../../alarm/index.ts'

/** What reads a request's headers. */
export type HeaderReader = Pick<Headers, 'get'>

/** Headers that say who is meant: if one is repeated, two readers of a request could go by different values. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'authorization', 'wakeful-tenant', 'wakeful-owner'])
/** A request id is returned and logged, so it must be short and harmless in a header. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/
/** How keys, secrets, and the tokens of calendars and tickets begin: none of them may be returned or logged. */
const SECRET = /(?:wk|wf|wt|whsec)_/
/** In characters. Larger responses are written as bytes. */
const LARGE = 16_384

/** What the Node adapter passes beside the request. */
interface NodeEnv {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
}

/** A request's headers as Node has parsed them: to find one in the framework's copy costs several times as much. */
export function headersOf(c: Context): HeaderReader {
  const { incoming } = nodeOf(c)
  return incoming === undefined ? c.req.raw.headers : new NodeHeaders(incoming)
}

/** The headers of a request of Node. */
export class NodeHeaders implements HeaderReader {
  readonly #incoming: IncomingMessage

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  get(name: string): string | null {
    const value = this.#incoming.headers[name]
    return value === undefined ? null : String(value)
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

/** The id of a request: the caller's `x-request-id` if it is well-formed and not a secret, else a new one. */
export function requestId(headers: HeaderReader, create: () => string): string {
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
export function nodeOf(c: Context): NodeEnv {
  return (c.env as NodeEnv | undefined) ?? {}
}
