import type { Context } from 'hono'
import { BODY_VERBATIM, type Operation } from '../../contracts/index.ts'
import { display, WakefulError } from '../../error.ts'
import { readJson, type Verbatim } from '../../json/index.ts'
import { type HeaderReader, headersOf, nodeOf } from './node-request.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const decoder = new TextDecoder('utf-8', { fatal: true })
/** Beyond this many chunks, they must have this many bytes on average: a tiny chunk costs more than it holds. */
const CHUNKS_MAX = 1_000
const CHUNK_BYTES_MIN = 64

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
  if (header !== null && accepted !== true)
    throw new WakefulError('request.idempotency_header', { detail: accepted.refused })
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
