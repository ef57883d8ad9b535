import { errorText } from '../error.ts'
import { withoutSecrets } from './secrets.ts'

/** Fields whose value is a secret, whatever it looks like. */
const SECRET_FIELDS = new Set(
  'authorization proxy-authorization cookie set-cookie x-api-key secret password passwd token ticket webhook-secret api-key'.split(
    ' ',
  ),
)
const HIDDEN = '…'
const DEPTH_MAX = 6
const ITEMS_MAX = 100
const TEXT_MAX = 4_000
const SEARCHED_MAX = 4 * TEXT_MAX
const CAUSES_MAX = 3

/** A value as it may be logged: bounded, errors as plain fields, and nothing secret in any text of it. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactedText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value
  if (depth >= DEPTH_MAX) return HIDDEN
  try {
    if (value instanceof Error) return errorFields(value, depth)
    if (value instanceof Date) return value
    if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((each) => redacted(each, depth + 1))
    return fields(value, depth)
  } catch {
    // A value may trap every question about it; a log must outlive it.
    return '(cannot be shown)'
  }
}

function fields(value: object, depth: number): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(value).slice(0, ITEMS_MAX)) {
    const isSecret =
      SECRET_FIELDS.has(name.toLowerCase().replaceAll('_', '-')) && each !== null && each !== undefined
    shown[redactedText(name)] = isSecret ? HIDDEN : redacted(each, depth + 1)
  }
  return shown
}

function errorFields(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as { code?: unknown }
  const cause = depth < CAUSES_MAX && error.cause !== undefined ? redacted(error.cause, depth + 1) : undefined
  return {
    name: redactedText(error.name),
    message: redactedError(error),
    ...(typeof code === 'string' && { code: redactedText(code) }),
    // What Wakeful itself refuses says in its message all there is to know.
    ...(error.name !== 'WakefulError' &&
      typeof error.stack === 'string' && { stack: redactedText(error.stack) }),
    ...(cause !== undefined && { cause }),
  }
}

/** A text as it may be logged: bounded, and nothing secret in it. */
export function redactedText(given: string): string {
  // Cut last: half an address does not show any more that the rest of it is a password. What is searched is bounded too.
  const clean = withoutSecrets(given.length > SEARCHED_MAX ? wholeWords(given) : given)
  return clean.length > TEXT_MAX ? `${clean.slice(0, TEXT_MAX)}…` : clean
}

/** The message of anything thrown, as it may be logged. */
export function redactedError(thrown: unknown): string {
  return redactedText(errorText(thrown, Number.MAX_SAFE_INTEGER))
}

function wholeWords(given: string): string {
  const cut = given.slice(0, SEARCHED_MAX)
  return `${cut.slice(0, Math.max(0, cut.lastIndexOf(' ')))} …`
}
