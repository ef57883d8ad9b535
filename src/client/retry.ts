const DELAY_MS_MIN = 200
const DELAY_MS_MAX = 5_000
/** A call does not wait longer than this; it throws the error instead. */
const RETRY_AFTER_MS_MAX = 30_000

/** Statuses after which the same request may succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** The delay before a retry; null if the call is not retried. */
export function retryDelayMs(
  repeat: number,
  retries: number,
  answer: Pick<Response, 'status' | 'headers'> | null,
  random: number,
): number | null {
  if (repeat > retries) return null
  if (answer !== null && !RETRYABLE.has(answer.status)) return null
  const asked = answer === null ? null : retryAfterMs(answer.headers)
  if (asked !== null) return asked > RETRY_AFTER_MS_MAX ? null : asked
  const most = Math.min(DELAY_MS_MAX, DELAY_MS_MIN * 2 ** (repeat - 1))
  return Math.round(most * (0.5 + random / 2))
}

/** The delay of `Retry-After`: seconds, or a date, which is compared with the server's `Date`. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}

/** Waits, and throws if the signal is aborted meanwhile. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = () => resolve()
  const timer = setTimeout(wake, ms)
  signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}
