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
    throw refusal('A webhook with GET has no body. Leave out body, or use POST.')
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
  throw refusal(`The method of the webhook must be one of ${METHODS.join(', ')}, not ${display(input)}.`)
}

function readUrl(input: unknown, allowPrivate: boolean): string {
  const text = assertText('webhook', input, URL_BYTES_MAX)
  // A URL parser drops some of these silently: what is stored would not be what is called.
  if (/[\p{Cc}\p{White_Space}\\]/u.test(text))
    throw refusal('The webhook contains spaces, control characters or backslashes. Percent-encode them.')
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw refusal(`The webhook must be a URL that begins with https:// or http://, not ${display(text)}.`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw refusal('The webhook contains a user or password. Send them in headers, which are sealed.')
  if (text.includes('#')) throw refusal('The webhook has a fragment (#…), which is never sent. Leave it out.')
  const kind = allowPrivate ? null : hostClass(url.hostname)
  if (kind !== null) throw refusal(`${capitalized(forbiddenText(kind))}.`)
  return text
}

/** The text of a refused address: its kind, and how to allow it. */
export function forbiddenText(kind: string): string {
  return `webhooks do not go to ${kind} addresses; the operator can allow them with WAKEFUL_ALLOW_PRIVATE_TARGETS=1`
}

function readHeaders(input: unknown): Readonly<Record<string, string>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw refusal(`The headers of the webhook must be an object of texts, not ${display(input)}.`)
  const entries = Object.entries(input)
  if (entries.length > HEADERS_MAX)
    throw refusal(`The webhook has ${entries.length} headers; at most ${HEADERS_MAX} are allowed.`)
  const headers: Record<string, string> = Object.create(null)
  let bytes = 0
  for (const [input, value] of entries) {
    const name = headerName(input)
    if (name in headers) throw refusal(`The header ${name} of the webhook is there twice.`)
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      // The value is not repeated: it may be a secret.
      throw refusal(
        `The header ${name} of the webhook must be a text in ASCII without line ends or control characters.`,
      )
    }
    headers[name] = value
    bytes += name.length + value.length
  }
  if (bytes > HEADERS_BYTES_MAX)
    throw refusal(
      `The headers of the webhook are ${bytes} bytes long; at most ${HEADERS_BYTES_MAX} are allowed.`,
    )
  return headers
}

function headerName(input: string): string {
  const name = input.toLowerCase()
  if (name.length > HEADER_NAME_MAX || !TOKEN.test(name))
    throw refusal(`${display(input)} is not a valid header name. Use letters, digits and -.`)
  if (REFUSED.has(name) || REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    throw refusal(
      `The header ${name} of the webhook cannot be set, because Wakeful or the connection writes it.`,
    )
  return name
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function refusal(detail: string): WakefulError {
  return new WakefulError('webhook.invalid', { detail })
}
