import { DEFAULT_LIMITS, utf8Length } from '../alarm/index.ts'
import { errorText } from '../error.ts'
import { backoff } from '../time/index.ts'
import { DeliveryFailure, type DeliveryReceipt } from './target-kind.ts'
import type { WebhookAnswer } from './webhook-ports.ts'

/** The longest wait that `Retry-After` may ask for. */
const RETRY_AFTER_MS_MAX = 24 * 3_600_000
const RETRIED: ReadonlySet<number> = new Set([408, 425, 429])
const GONE = 410
const TOO_MANY = 429
/** The wait after a rate limit without `Retry-After`: doubled with every attempt, whatever the alarm's backoff. */
const RATE_LIMITED = { baseMs: 1_000, capMs: 60_000 }

/** Whether the endpoint itself fails, rather than this one request. */
export function isServerError({ status }: WebhookAnswer): boolean {
  return status >= 500 && status <= 599
}

/**
 * What the answer to attempt number `attempt` (from 1) means: success with its report, or the failure it is. `from` names the
 * endpoint, without its path.
 */
export function receiptOf(
  answer: WebhookAnswer,
  from: string,
  now: number,
  attempt: number,
): DeliveryReceipt {
  const { status } = answer
  const summary = `HTTP ${status} from ${from}`
  if (status >= 200 && status <= 299) return reportOf(answer.body)
  if (status === GONE)
    throw new DeliveryFailure(`${summary}: gone, so its alarm is cancelled`, { gone: true })
  if (status >= 300 && status <= 399)
    throw new DeliveryFailure(`${summary}: redirects are not followed; give the address it leads to`, {
      final: true,
    })
  if (!RETRIED.has(status) && !isServerError(answer)) throw new DeliveryFailure(summary, { final: true })
  const ownMs = status === TOO_MANY ? backoff(attempt, RATE_LIMITED, 0) : null
  const retryAfterMs = readRetryAfter(answer.retryAfter, now) ?? ownMs
  throw new DeliveryFailure(summary, retryAfterMs === null ? {} : { retryAfterMs })
}

/** A JSON body `{ "complete": "…" }` or `{ "fail": "…" }` is the report; anything else is none. */
function reportOf(body: string | null): DeliveryReceipt {
  const report = body === null || !/^\s*\{/.test(body) ? null : parsed(body)
  if (report === null) return { report: null }
  if (typeof report.fail === 'string')
    throw new DeliveryFailure(errorText(report.fail || 'the webhook reported failure'))
  if (typeof report.complete !== 'string') return { report: null }
  const text = report.complete.toWellFormed().replaceAll('\0', '\ufffd')
  return { report: utf8Length(text) > DEFAULT_LIMITS.messageBytesMax ? null : text }
}

function parsed(body: string): { readonly complete?: unknown; readonly fail?: unknown } | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/**
 * How long `Retry-After` asks to wait, in seconds or until a date; null where it has no usable value. Zero
 * is not usable: it would use up every attempt within a moment, so the alarm's backoff applies.
 */
export function readRetryAfter(text: string | null, now: number): number | null {
  const value = text?.trim() ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : HTTP_DATE.test(value) ? dateMs(value) - now : 0
  return ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : null
}

/** The form of dates that HTTP writes, and the two it must still read. */
const HTTP_DATE =
  /^(?:\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/

/** The oldest form names no zone, and means GMT as the others do. */
function dateMs(text: string): number {
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}
