import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'

/** What is asked of a request's headers. */
export type HeaderReader = Pick<Headers, 'get'>

/** Headers that say who is meant: given twice, two readers of a request could go by different ones. */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization', 'wakeful-tenant', 'wakeful-owner'])

/** Which of these a request has twice, as it wrote it. */
export function duplicateHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) return rawHeaders[at]
    seen.add(name)
  }
  return undefined
}

/** In characters: what is smaller does not wait for anybody. */
const LARGE = 16_384
/** Beyond so many, the pieces of a body must not be smaller than this on average: each costs more than it holds. */
const PIECES_MAX = 1_000
const PIECE_BYTES_MIN = 64

/** What the Node adapter gives beside the request. */
interface NodeEnv {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
}

/** A request's headers as Node has read them already: to find one in the framework's copy costs several times as much. */
export function headersOf(c: Context): HeaderReader {
  const { incoming } = nodeOf(c)
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
  if (outgoing === undefined) return new Response(text, { status, headers })
  // Whoever has gone takes no answer.
  if (!outgoing.destroyed && !outgoing.headersSent) {
    // What may wait for its reader waits as bytes: they are fewer, and counted as such. What is small goes out with its head.
    const body = text.length > LARGE ? Buffer.from(text) : text
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    outgoing.end(body)
  }
  return RESPONSE_ALREADY_SENT
}

/** Why a body is not read to its end. */
type Unfinished = 'too large' | 'broken off'

/** The body of a request, piece by piece as Node reads it; what comes after the bound is not kept. */
export function readPieces(c: Context, bytesMax: number): Promise<Uint8Array | Unfinished> {
  const { incoming } = nodeOf(c)
  if (incoming === undefined || incoming.readableEnded) return Promise.resolve(new Uint8Array())
  const { promise, resolve } = Promise.withResolvers<Uint8Array | Unfinished>()
  const pieces: Uint8Array[] = []
  let size = 0
  const keep = (piece: Uint8Array) => {
    size += piece.byteLength
    pieces.push(piece)
    const isTooLarge = size > bytesMax
    if (!isTooLarge && (pieces.length <= PIECES_MAX || size >= pieces.length * PIECE_BYTES_MIN)) return
    incoming.off('data', keep)
    if (isTooLarge) resolve('too large')
    // To read on for the sake of an answer is what it costs.
    else incoming.destroy()
  }
  incoming.on('data', keep)
  incoming.once('end', () => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)))
  incoming.once('error', () => resolve('broken off'))
  incoming.once('close', () => resolve('broken off'))
  return promise
}

/** Ends the connection of a request, whatever was sent of its answer. */
export function hangUp(c: Context): void {
  nodeOf(c).outgoing?.destroy()
}

function nodeOf(c: Context): NodeEnv {
  return (c.env as NodeEnv | undefined) ?? {}
}

/** The headers of a request that no framework has in hand. */
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
