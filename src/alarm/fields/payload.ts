import { WakefulError } from '../../error.ts'
import { jsonText } from '../../json/index.ts'
import { type Limits, utf8Length } from './limits.ts'

/** The JSON text of a payload; null where none was given. */
export function payloadText(payload: unknown, limits: Limits): string | null {
  if (payload === undefined) return null
  const text = jsonText(payload)
  const bytes = utf8Length(text)
  if (bytes > limits.payloadBytesMax) {
    throw new WakefulError('payload.too_large', { bytes, max: limits.payloadBytesMax }, { field: 'payload' })
  }
  return text
}
