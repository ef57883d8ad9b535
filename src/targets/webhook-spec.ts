import { assertText } from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { hostClass } from './address-class.ts'
import type { TargetObject } from './target-kind.ts'
import { type BodyTemplate, readTemplate } from './webhook-template.ts'

/** A validated webhook. */
export interface WebhookSpec {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>> | null
  /** Undefined if the wake's standard body is sent. */
  readonly body: BodyTemplate | undefined
}

const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']
const URL_BYTES_MAX = 2_048
const HEADERS_MAX = 50
const HEADERS_BYTES_MAX = 16 * 1024
const HEADER_NAME_MAX = 128
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
/** A header's value: no line ends and no control characters, which could begin another header. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
/** Headers that Wakeful or the connection writes. */
const REFUSED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const REFUSED_PREFIXES: readonly string[] = ['webhook-', 'proxy-', 'sec-']

/** Parses and validates a webhook. */
export function parseWebhook(spec: TargetObject, allowPrivate: boolean): WebhookSpec {
  const method = readMethod(spec.method)
  const url = readUrl(spec.webhook, allowPrivate)
  if (method === 'GET' && spec.body !== undefined)
    throw refusal('a webhook by GET has no body: leave body out, or use POST')
  return {
    url,
    method,
    headers: spec.headers === undefined ? null : readHeaders(spec.headers),
    body: spec.body === undefined ? undefined : readTemplate(spec.body),
  }
}

function readMethod(input: unknown): string {
  if (input === undefined) return 'POST'
  const method = typeof input === 'string' ? input.toUpperCase() : ''
  if (METHODS.includes(method)) return method
  throw refusal(`method of the webhook must be one of ${METHODS.join(', ')}, not ${display(input)}`)
}

function readUrl(input: unknown, allowPrivate: boolean): string {
  const text = assertText('webhook', input, URL_BYTES_MAX)
  // A URL parser drops some of these silently: what is stored would not be what is called.
  if (/[\p{Cc}\p{White_Space}\\]/u.test(text))
    throw refusal('webhook contains spaces, control characters or backslashes: write them percent-encoded')
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw refusal(`webhook must be a URL that begins with https:// or http://, not ${display(text)}`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw refusal('webhook holds a user or password: send them as headers, which are sealed')
  if (text.includes('#')) throw refusal('webhook has a fragment (#…), which is never sent: leave it out')
  const kind = allowPrivate ? null : hostClass(url.hostname)
  if (kind !== null) throw refusal(forbiddenText(kind))
  return text
}

/** The text of a refused address: its kind, and how to allow it. */
export function forbiddenText(kind: string): string {
  return `webhooks do not go to ${kind} addresses; the operator can allow them with WAKEFUL_ALLOW_PRIVATE_TARGETS=1`
}

function readHeaders(input: unknown): Readonly<Record<string, string>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw refusal(`headers of the webhook must be an object of texts, not ${display(input)}`)
  const entries = Object.entries(input)
  if (entries.length > HEADERS_MAX)
    throw refusal(`${entries.length} headers of the webhook; at most ${HEADERS_MAX} are allowed`)
  const headers: Record<string, string> = Object.create(null)
  let bytes = 0
  for (const [input, value] of entries) {
    const name = headerName(input)
    if (name in headers) throw refusal(`header ${name} of the webhook is there twice`)
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      // The value is not repeated: it may be a secret.
      throw refusal(
        `header ${name} of the webhook must be a text in ASCII without line ends or control characters`,
      )
    }
    headers[name] = value
    bytes += name.length + value.length
  }
  if (bytes > HEADERS_BYTES_MAX)
    throw refusal(`headers of the webhook are ${bytes} bytes long; at most ${HEADERS_BYTES_MAX} are allowed`)
  return headers
}

function headerName(input: string): string {
  const name = input.toLowerCase()
  if (name.length > HEADER_NAME_MAX || !TOKEN.test(name))
    throw refusal(`${display(input)} is no name of a header: letters, digits and - are`)
  if (REFUSED.has(name) || REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    throw refusal(`header ${name} of the webhook cannot be set: Wakeful or the connection writes it`)
  return name
}

function refusal(detail: string): WakefulError {
  return new WakefulError('webhook.invalid', { detail })
}
