import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'

/** What is asked of a request's headers. */
export type HeaderReader = Pick<Headers, 'get'>

/** What the Node adapter gives beside the request. */
interface NodeEnv {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
}

/**
 * A request's headers as Node has read them already: making a `Headers` of them costs as much as all the rest of a small
 * request.
 */
export function headersOf(c: Context): HeaderReader {
  const incoming = nodeOf(c).incoming
  return incoming === undefined ? c.req.raw.headers : new NodeHeaders(incoming)
}

/** Answers with a text at once, past the `Response` that would be taken apart again. */
export function answerText(
  c: Context,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): Response {
  const { outgoing } = nodeOf(c)
  if (outgoing === undefined || outgoing.headersSent) return new Response(text, { status, headers })
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
  outgoing.end(text)
  return RESPONSE_ALREADY_SENT
}

/** Ends the connection of a request, whatever was sent of its answer. */
export function hangUp(c: Context): void {
  nodeOf(c).outgoing?.destroy()
}

/** Headers that say who is meant: given twice, two readers of a request could go by different ones. */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization', 'wakeful-tenant', 'wakeful-owner'])

/** Which of these a request has twice, as it wrote it. */
export function givenTwice({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) return rawHeaders[at]
    seen.add(name)
  }
  return undefined
}

/** All headers of a request, as Node has read them. */
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

function nodeOf(c: Context): NodeEnv {
  return (c.env as NodeEnv | undefined) ?? {}
}
