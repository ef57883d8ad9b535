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
  /** Which part of what was given is wrong, where it is one of many: `items[1]`. */
  declare readonly field?: string

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; field?: string }) {
    super(message, options)
    this.code = code
    if (options?.field !== undefined) this.field = options.field
  }
}

/** The message of anything thrown, bounded so that it can be stored and shown. Never throws itself. */
export function errorText(thrown: unknown, maxLength = 2000): string {
  let text: string
  try {
    const said = thrown instanceof Error ? thrown.message || thrown.name : thrown
    text = typeof said === 'string' ? said : display(said)
  } catch {
    text = 'an error that cannot be shown'
  }
  const whole = text.toWellFormed().replaceAll('\0', '\ufffd')
  return whole.length > maxLength ? `${whole.slice(0, maxLength - 1)}…` : whole
}

/** Any value as a short text, whatever it is: for messages about what was wrong. */
export function display(value: unknown): string {
  try {
    const quoted = typeof value === 'string' || (typeof value === 'object' && value !== null)
    const text = quoted ? JSON.stringify(value) : String(value)
    return text.length > 200 ? `${text.slice(0, 199)}…` : text
  } catch {
    return `a ${typeof value} that cannot be shown`
  }
}
