import { BODY_VERBATIM, type Operation } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { readJson, type Verbatim } from '../../json/index.ts'
import type { HeaderReader } from './node-side.ts'
import { PackedBody } from './problem.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads a request's body as JSON, what users wrote kept as text; undefined where there is none. */
export async function readBody(
  request: Request,
  bytesMax: number,
  verbatim: Verbatim = BODY_VERBATIM,
): Promise<unknown> {
  const { headers } = request
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') throw new PackedBody(encoding)
  const bytes = await readBytes(request, bytesMax).catch(brokenOff)
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

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const length = request.headers.get('content-length')
  if (length !== null) {
    if (Number(length) > bytesMax) throw tooLarge(bytesMax)
    return length === '0' ? new Uint8Array() : new Uint8Array(await request.arrayBuffer())
  }
  return request.body === null ? new Uint8Array() : readStream(request.body, bytesMax)
}

/** A body of unknown length is read up to the bound and no further. */
async function readStream(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

/** Whoever hangs up within a body has nobody's trouble but their own: it is no error of the server's. */
function brokenOff(thrown: unknown): never {
  if (thrown instanceof WakefulError) throw thrown
  throw new WakefulError('invalid_request', 'the body broke off before its end', { cause: thrown })
}

function tooLarge(bytesMax: number): WakefulError {
  return new WakefulError('payload_too_large', `the body is larger than ${bytesMax} bytes`)
}
