import { type ErrorCode, WakefulError } from '../error.ts'

/** What an answer without a problem document means: it came from a proxy, or from something that is no Wakeful. */
const CODE_OF: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  409: 'conflict',
  413: 'payload_too_large',
  429: 'rate_limited',
  502: 'store_unavailable',
  503: 'store_unavailable',
  504: 'store_unavailable',
}

const CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_request',
  'invalid_time',
  'invalid_rule',
  'invalid_timezone',
  'payload_too_large',
  'unauthorized',
  'forbidden',
  'not_found',
  'conflict',
  'already_ended',
  'cursor_expired',
  'quota_exceeded',
  'rate_limited',
  'store_unavailable',
  'schema_too_new',
  'internal',
])

const OPTION =
  /\b(?:idempotency_key|conversation_id|correlation_id|max_failures|completion_timeout|on_failure|created_by|created_via|updated_at|occurrence_id|alarm_id|base_ms|cap_ms|wake_message|fire_at|cron_expr)\b/g

/** Those whose names are not just the same in camelCase. */
const RENAMED: Readonly<Record<string, string>> = {
  wake_message: 'message',
  fire_at: 'at',
  cron_expr: 'cron',
}

/** What a refusal throws: the code and the message that the library would throw. */
export function refusalOf(status: number, text: string, place: string): WakefulError {
  const { code, detail } = read(text)
  // Only a wrong address has no such call: it must not pass for an alarm that is not there.
  if (code === 'not_found' && String(detail).startsWith('there is no call '))
    return new WakefulError('invalid_request', `${String(detail)}: is ${place} the right address?`)
  if (typeof code === 'string' && CODES.has(code) && typeof detail === 'string')
    return new WakefulError(code as ErrorCode, inLibraryWords(detail))
  // A code of a newer server, under a status that every version understands.
  const known = CODE_OF[status] ?? 'internal'
  if (typeof code === 'string' && typeof detail === 'string') return new WakefulError(known, detail)
  return new WakefulError(
    known,
    `${place} answered ${status}, and not as Wakeful would: is it the right address?`,
  )
}

/** What is not there, or not the caller's, is null. */
export async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (thrown) {
    if (thrown instanceof WakefulError && thrown.code === 'not_found') return null
    throw thrown
  }
}

/** On the wire options have other names than in TypeScript. */
function inLibraryWords(detail: string): string {
  return (
    detail
      .replace(OPTION, (word) => RENAMED[word] ?? camel(word))
      // What the caller has called otherwise than anybody knows went out in snake_case, too.
      .replace(/unknown fields? "[^;]*/g, camel)
  )
}

function camel(text: string): string {
  return text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function read(text: string): { code?: unknown; detail?: unknown } {
  try {
    const problem: unknown = JSON.parse(text)
    return typeof problem === 'object' && problem !== null ? problem : {}
  } catch {
    return {}
  }
}
