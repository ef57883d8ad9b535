import type { Context } from 'hono'
import { BODY_VERBATIM, type Operation } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { readJson, type Verbatim } from '../../json/index.ts'
import { type HeaderReader, headersOf, readPieces } from './node-request.ts'
import { PackedBody } from './problem.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads a request's body as JSON, what users wrote kept as text; undefined where there is none. */
export async function readBody(
  c: Context,
  bytesMax: number,
  verbatim: Verbatim = BODY_VERBATIM,
): Promise<unknown> {
  const headers = headersOf(c)
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') throw new PackedBody(encoding)
  if (Number(headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const bytes = await bytesOf(c, bytesMax)
  if (bytes.byteLength === 0) return undefined
  const type = headers.get('content-type')
  if (type === null || !JSON_TYPE.test(type))
    throw new WakefulError(
      'invalid_request',
      `the body must be JSON with Content-Type: application/json, not ${JSON.stringify(type ?? 'none')}`,
    )
  return readJson(decode(bytes), verbatim)
}

/** A body with the key that its request has as a header: as it is, or quoted as the header's draft standard has it. */
export function withIdempotencyKey(
  body: unknown,
  headers: HeaderReader,
  taken: NonNullable<Operation['idempotencyHeader']>,
): unknown {
  const header = headers.get('idempotency-key')
  if (header !== null && taken !== true)
    throw new WakefulError(
      'invalid_request',
      `this call does not take the header Idempotency-Key: ${taken.refused}`,
    )
  if (header === null || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const key = /^"(.*)"$/.exec(header.trim())?.[1] ?? header.trim()
  const { idempotency_key: said = key } = body as { idempotency_key?: unknown }
  if (said === key) return { ...body, idempotency_key: key }
  throw new WakefulError(
    'invalid_request',
    'the header Idempotency-Key and idempotency_key in the body differ: send one of them',
  )
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new WakefulError('invalid_request', 'the body is not UTF-8')
  }
}

async function bytesOf(c: Context, bytesMax: number): Promise<Uint8Array> {
  const read = await readPieces(c, bytesMax)
  if (read === 'too large') throw tooLarge(bytesMax)
  // Whoever hangs up within a body has nobody's trouble but their own: it is no error of the server's.
  if (read === 'broken off') throw new WakefulError('invalid_request', 'the body broke off before its end')
  return read
}

function tooLarge(bytesMax: number): WakefulError {
  return new WakefulError('payload_too_large', `the body is larger than ${bytesMax} bytes`)
}
