import { errorText } from '../error.ts'

/** Fields whose value is a secret, whatever it looks like. */
const SECRET_FIELDS = new Set(
  'authorization proxy-authorization cookie set-cookie x-api-key secret password passwd token ticket webhook-secret api-key'.split(
    ' ',
  ),
)
/** Replaces a secret. */
const HIDDEN = '…'
const DEPTH_MAX = 6
const ITEMS_MAX = 100
const TEXT_MAX = 4_000
const SEARCHED_MAX = 4 * TEXT_MAX
const CAUSES_MAX = 3

/** A value for the log: bounded, with errors as plain fields, and without secrets in any of its texts. */
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
    // A proxy can throw on every access. Logging must not fail.
    return '(cannot be logged)'
  }
}

function fields(value: object, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(value).slice(0, ITEMS_MAX)) {
    const isSecret =
      SECRET_FIELDS.has(name.toLowerCase().replaceAll('_', '-')) && each !== null && each !== undefined
    clean[redactedText(name)] = isSecret ? HIDDEN : redacted(each, depth + 1)
  }
  return clean
}

function errorFields(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as { code?: unknown }
  const cause = depth < CAUSES_MAX && error.cause !== undefined ? redacted(error.cause, depth + 1) : undefined
  return {
    name: redactedText(error.name),
    message: redactedError(error),
    ...(typeof code === 'string' && { code: redactedText(code) }),
    // The message of a WakefulError says everything; a stack would only add noise.
    ...(error.name !== 'WakefulError' &&
      typeof error.stack === 'string' && { stack: redactedText(error.stack) }),
    ...(cause !== undefined && { cause }),
  }
}

/** A text for the log: bounded, and without secrets. */
export function redactedText(text: string): string {
  // Cut last: in half a URL, a password would no longer be recognised. The text that is searched is bounded too.
  const clean = withoutSecrets(text.length > SEARCHED_MAX ? wholeWords(text) : text)
  return clean.length > TEXT_MAX ? `${clean.slice(0, TEXT_MAX)}…` : clean
}

/** The message of anything thrown, for the log. */
export function redactedError(thrown: unknown): string {
  return redactedText(errorText(thrown, Number.MAX_SAFE_INTEGER))
}

function wholeWords(text: string): string {
  const cut = text.slice(0, SEARCHED_MAX)
  return `${cut.slice(0, Math.max(0, cut.lastIndexOf(' ')))} …`
}

/** Every known secret stands next to one of these. Most texts have none of them and need no further search. */
const SUSPECT = /w[kft]_|whsec_|:\/\/|[?&]|bearer|basic|authorization|cookie|x-api-key/i

/**
 * A text without API keys, webhook secrets, tickets, credentials in headers, and passwords in URLs. A key keeps its public
 * id, which identifies it and grants nothing.
 */
function withoutSecrets(text: string): string {
  if (!SUSPECT.test(text)) return text
  return withoutPasswords(
    text
      .replace(/\b(wk_[0-9a-f]{16})_[\w-]+/g, `$1_${HIDDEN}`)
      .replace(/\bwk_(?![0-9a-f]{16}_…)[\w-]{8,}/g, `wk_${HIDDEN}`)
      .replace(/\b(w[ft])_[\w-]{43}/g, `$1_${HIDDEN}`)
      .replace(/\bwhsec_[\w+/=-]+/g, `whsec_${HIDDEN}`)
      .replace(/\b(Bearer|Basic)(\s+)(?!wk_)[^\s"',;\\]+/gi, `$1$2${HIDDEN}`)
      .replace(
        /(["']?\b(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)\\?["']?\s*[:=]\s*\\?["']?)(?!(?:Bearer|Basic)\b)[^\s"',;\\]+/gi,
        `$1${HIDDEN}`,
      )
      .replace(/([?&](?:ticket|token|key|secret|access_token|signature)=)[^\s&"'\\]+/gi, `$1${HIDDEN}`),
  )
}

/** The URL in help texts, which has no real password. */
const EXAMPLE = '://user:password@'

/** A text without the passwords of the URLs in it. */
export function withoutPasswords(text: string): string {
  return text.replace(/\S+/g, withoutPassword).replace(/([?&]password=)[^\s&"']*/gi, '$1…')
}

/** A password ends at the last @ of its word. Searching for that once keeps this linear, however many URLs seem to begin. */
function withoutPassword(word: string): string {
  const end = word.lastIndexOf('@')
  const user = end === -1 ? null : /:\/\/[^:@/]*:/.exec(word)
  if (user === null || user.index + user[0].length > end) return word
  if (word.slice(user.index, end + 1) === EXAMPLE) return word
  return `${word.slice(0, user.index)}${user[0]}…${word.slice(end)}`
}
