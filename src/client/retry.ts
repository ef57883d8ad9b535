const PAUSE_MS_MIN = 200
const PAUSE_MS_MAX = 5_000
/** Longer than this nobody waits inside of one call: the refusal is the answer. */
const RETRY_AFTER_MS_MAX = 30_000

/** Statuses that say nothing of the request itself: the same one may go well a moment later. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** How long to wait before a call is repeated; null where it is not to be. */
export function retryDelayMs(
  repeat: number,
  retries: number,
  answer: Pick<Response, 'status' | 'headers'> | null,
  random: number,
): number | null {
  if (repeat > retries) return null
  if (answer !== null && !PASSING.has(answer.status)) return null
  const asked = answer === null ? null : retryAfterMs(answer.headers)
  if (asked !== null) return asked > RETRY_AFTER_MS_MAX ? null : asked
  const most = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (repeat - 1))
  return Math.round(most * (0.5 + random / 2))
}

/** What `Retry-After` asks for: seconds, or a date, which is read by the server's own clock. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}

/** Waits so long, or until the signal is aborted, which throws. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error)
      return
    }
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      if (signal?.aborted === true) reject(signal.reason as Error)
      else resolve()
    }
    const timer = setTimeout(wake, ms)
    signal?.addEventListener('abort', wake)
  })
}
