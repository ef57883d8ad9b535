import { DEFAULT_LIMITS, utf8Length } from '../alarm/index.ts'
import { errorText } from '../error.ts'
import { backoff } from '../time/index.ts'
import { DeliveryFailure, type DeliveryReceipt } from './targets.ts'
import type { WebhookAnswer } from './webhook.ts'

/** The longest delay that `Retry-After` may ask for. */
const RETRY_AFTER_MS_MAX = 24 * 3_600_000
/** Statuses that are retried, besides those of server errors. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 429])
const GONE = 410
const TOO_MANY_REQUESTS = 429
/** The delay after a 429 without `Retry-After`. It doubles with every attempt, whatever the alarm's backoff. */
const RATE_LIMIT_BACKOFF = { baseMs: 1_000, capMs: 60_000 }

/** Whether the endpoint itself fails, rather than this one request. */
export function isServerError({ status }: WebhookAnswer): boolean {
  return status >= 500 && status <= 599
}

/**
 * The result of an attempt (the first is 1): returns the report of a success, and throws a `DeliveryFailure` otherwise.
 * `origin` names the endpoint in errors. They never contain its path, which may be secret.
 */
export function receiptOf(
  answer: WebhookAnswer,
  origin: string,
  now: number,
  attempt: number,
): DeliveryReceipt {
  const { status } = answer
  const summary = `HTTP ${status} from ${origin}`
  if (status >= 200 && status <= 299) return reportOf(answer.body)
  if (status === GONE)
    throw new DeliveryFailure(`${summary}: gone, so its alarm is cancelled`, { gone: true })
  if (status >= 300 && status <= 399)
    throw new DeliveryFailure(`${summary}: redirects are not followed; give the address it leads to`, {
      final: true,
    })
  if (!RETRIED_STATUSES.has(status) && !isServerError(answer))
    throw new DeliveryFailure(summary, { final: true })
  const rateLimitMs = status === TOO_MANY_REQUESTS ? backoff(attempt, RATE_LIMIT_BACKOFF, 0) : null
  const retryAfterMs = readRetryAfter(answer.retryAfter, now) ?? rateLimitMs
  throw new DeliveryFailure(summary, retryAfterMs === null ? {} : { retryAfterMs })
}

/** A JSON body `{ "complete": "…" }` or `{ "fail": "…" }` is a report. Any other body is ignored. */
function reportOf(body: string | null): DeliveryReceipt {
  const report = body === null || !/^\s*\{/.test(body) ? null : parseReport(body)
  if (report === null) return { report: null }
  if (typeof report.fail === 'string')
    throw new DeliveryFailure(errorText(report.fail || 'the webhook reported failure'))
  if (typeof report.complete !== 'string') return { report: null }
  const text = report.complete.toWellFormed().replaceAll('\0', '\ufffd')
  return { report: utf8Length(text) > DEFAULT_LIMITS.messageBytesMax ? null : text }
}

function parseReport(body: string): { readonly complete?: unknown; readonly fail?: unknown } | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/**
 * The delay that `Retry-After` asks for, written as seconds or as a date; null if it is absent, invalid or not positive.
 * Zero is ignored because the attempts would be used up at once. The alarm's backoff applies instead.
 */
export function readRetryAfter(text: string | null, now: number): number | null {
  const value = text?.trim() ?? ''
  let ms = 0
  if (/^\d+$/.test(value)) ms = Number(value) * 1_000
  else if (HTTP_DATE.test(value)) ms = dateMs(value) - now
  return ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : null
}

/** The date format of HTTP, and the two obsolete ones that must still be parsed (RFC 9110, section 5.6.7). */
const HTTP_DATE =
  /^(?:\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/

/** The oldest format has no zone. It is in GMT, too. */
function dateMs(text: string): number {
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}
