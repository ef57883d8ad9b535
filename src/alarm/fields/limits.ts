import { WakefulError } from '../../error.ts'

/** Bounds on what users may store; all configurable. */
export interface Limits {
  readonly payloadBytesMax: number
  readonly messageBytesMax: number
  readonly nameBytesMax: number
  readonly batchMax: number
  readonly listMax: number
}

/** The limits in force where nothing else is said. */
export const DEFAULT_LIMITS: Limits = {
  payloadBytesMax: 256 * 1024,
  messageBytesMax: 64 * 1024,
  nameBytesMax: 512,
  batchMax: 1000,
  listMax: 500,
}

/** Refuses text that no store could give back as it was, or that is too long. */
export function assertText(field: string, value: unknown, bytesMax: number): string {
  if (typeof value !== 'string')
    throw new WakefulError('invalid_request', `${field} must be a string, not ${typeof value}`)
  const bytes = utf8Length(value)
  if (bytes > bytesMax)
    throw new WakefulError(
      'invalid_request',
      `${field} is ${bytes} bytes long; at most ${bytesMax} are allowed`,
    )
  if (value.includes('\0'))
    throw new WakefulError('invalid_request', `${field} contains a NUL character, which cannot be stored`)
  if (!value.isWellFormed())
    throw new WakefulError(
      'invalid_request',
      `${field} contains half of a surrogate pair, which cannot be stored`,
    )
  return value
}

/** The text's length in UTF-8 without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}
