import { VERBATIM_MEMBERS } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { readJson } from '../../json/index.ts'
import type { HeaderReader } from './node-side.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads a request's body as JSON; undefined where there is none. */
export async function readBody(request: Request, headers: HeaderReader, bytesMax: number): Promise<unknown> {
  return jsonOf(await readBytes(request, headers, bytesMax).catch(brokenOff), headers)
}

/** A body as JSON; undefined where it is empty. */
export function jsonOf(bytes: Uint8Array, headers: HeaderReader): unknown {
  if (bytes.byteLength === 0) return undefined
  const type = headers.get('content-type')
  if (type === null || !JSON_TYPE.test(type))
    throw new WakefulError(
      'invalid_request',
      `the body must be JSON with Content-Type: application/json, not ${JSON.stringify(type ?? 'none')}`,
    )
  return readJson(decode(bytes), VERBATIM_MEMBERS)
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new WakefulError('invalid_request', 'the body is not UTF-8')
  }
}

async function readBytes(request: Request, headers: HeaderReader, bytesMax: number): Promise<Uint8Array> {
  const length = headers.get('content-length')
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

/** The refusal of a body beyond the bound. */
export function tooLarge(bytesMax: number): WakefulError {
  return new WakefulError('payload_too_large', `the body is larger than ${bytesMax} bytes`)
}
