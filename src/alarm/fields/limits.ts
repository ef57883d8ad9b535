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
    throw new WakefulError('field.invalid', { expected: 'a string', value: typeof value }, { field })
  const bytes = utf8Length(value)
  if (bytes > bytesMax) throw new WakefulError('field.too_long', { bytes, max: bytesMax }, { field })
  if (value.includes('\0')) throw new WakefulError('field.nul_character', {}, { field })
  if (!value.isWellFormed()) throw new WakefulError('field.lone_surrogate', {}, { field })
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
