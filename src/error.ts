/** The stable codes of everything Wakeful refuses. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_time'
  | 'invalid_rule'
  | 'invalid_timezone'
  | 'payload_too_large'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'already_ended'
  | 'cursor_expired'
  | 'quota_exceeded'
  | 'rate_limited'
  | 'store_unavailable'
  | 'schema_too_new'
  | 'internal'

/** A refused call: the message says what was wrong, with which value, and what would be right. */
export class WakefulError extends Error {
  override readonly name = 'WakefulError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** The message of anything thrown, bounded so that it can be stored and shown. */
export function errorText(thrown: unknown, maxLength = 2000): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}
