import { errorText, WakefulError } from '../error.ts'
import { type Limits, utf8Length } from './limits.ts'

/** JSON text given as it is, so that numbers beyond 2^53 and key order survive. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    if (!text.isWellFormed())
      throw new WakefulError('invalid_request', 'the payload contains half of a surrogate pair')
    try {
      JSON.parse(text)
    } catch (cause) {
      throw new WakefulError('invalid_request', `the payload is not JSON: ${errorText(cause)}`, { cause })
    }
    this.text = text
  }
}

/** Wraps JSON text so that it is stored byte for byte. */
export function rawJson(text: string): RawJson {
  return new RawJson(text)
}

/** The JSON text of a payload; null where none was given. */
export function payloadText(payload: unknown, limits: Limits): string | null {
  if (payload === undefined) return null
  const text = payload instanceof RawJson ? payload.text : stringify(payload)
  const bytes = utf8Length(text)
  if (bytes > limits.payloadBytesMax) {
    throw new WakefulError(
      'payload_too_large',
      `the payload is ${bytes} bytes of JSON; at most ${limits.payloadBytesMax} are allowed`,
    )
  }
  return text
}

function stringify(payload: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (cause) {
    throw new WakefulError('invalid_request', `the payload cannot be written as JSON: ${errorText(cause)}`, {
      cause,
    })
  }
  if (text === undefined)
    throw new WakefulError(
      'invalid_request',
      `the payload cannot be written as JSON: it is a ${typeof payload}`,
    )
  if (text.includes('null')) refuseNonFinite(payload)
  return text
}

/** JSON writes NaN and infinities as null: what would come back is not what was given. */
function refuseNonFinite(payload: unknown): void {
  JSON.stringify(payload, (name, value: unknown) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    const where = name === '' ? '' : ` at ${JSON.stringify(name)}`
    throw new WakefulError('invalid_request', `the payload holds ${value}${where}, which JSON cannot write`)
  })
}
