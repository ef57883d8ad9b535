import { assertText, BUILT_IN_POOL } from '../alarm/index.ts'
import { display } from '../error.ts'
import { hostClass } from './address-class.ts'
import type { TargetKind, TargetObject } from './targets.ts'
import {
  sealPurpose,
  type WebhookConfig,
  type WebhookPorts,
  WebhookSender,
  type WebhookSettings,
} from './webhook-delivery.ts'
import { type BodyTemplate, readTemplate, refusal } from './webhook-template.ts'

/** A validated webhook. */
export interface WebhookSpec {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>> | null
  /** Undefined to send the standard body. */
  readonly body: BodyTemplate | undefined
}

const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']
const URL_BYTES_MAX = 2_048
const HEADERS_MAX = 50
const HEADERS_BYTES_MAX = 16 * 1024
const HEADER_NAME_MAX = 128
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
/** A header value: no line ends or control characters, because they could start another header. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
/** Headers that Wakeful or the connection writes. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
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
const RESERVED_PREFIXES: readonly string[] = ['webhook-', 'proxy-', 'sec-']

/** Webhooks: signed HTTP requests to a URL, after the Standard Webhooks specification. */
export function webhookTarget(ports: WebhookPorts, settings: WebhookSettings): TargetKind {
  const sender = new WebhookSender(ports, settings)
  return {
    kind: 'webhook',
    fields: ['webhook', 'method', 'headers', 'body'],
    parse(spec) {
      const { url, method, headers, body } = parseWebhook(spec, settings.allowPrivate)
      const config: WebhookConfig = {
        ...(method !== 'POST' && { method }),
        ...(headers !== null && { headers: ports.sealer.seal(JSON.stringify(headers), sealPurpose(url)) }),
        ...(body !== undefined && { body }),
      }
      const target = { kind: 'webhook', name: url, pool: BUILT_IN_POOL }
      return Object.keys(config).length === 0 ? target : { ...target, config: { ...config } }
    },
    canRun: () => ports.canSign(),
    timeoutMs: () => settings.timeoutMs,
    deliver: (delivery) => sender.deliver(delivery),
  }
}

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
  // A URL parser drops some of these silently, so the URL that is called would differ from the stored one.
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

/** Says which addresses are forbidden, and how to allow them. */
export function forbiddenText(kind: string): string {
  return `webhooks do not go to ${kind} addresses; the operator can allow them with WAKEFUL_ALLOW_PRIVATE_TARGETS=1`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function readHeaders(input: unknown): Readonly<Record<string, string>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw refusal(`The headers of the webhook must be an object of texts, not ${display(input)}.`)
  const entries = Object.entries(input)
  if (entries.length > HEADERS_MAX)
    throw refusal(`The webhook has ${entries.length} headers; at most ${HEADERS_MAX} are allowed.`)
  const headers: Record<string, string> = Object.create(null)
  let bytes = 0
  for (const [written, value] of entries) {
    const name = headerName(written)
    if (name in headers) throw refusal(`The header ${name} of the webhook appears twice.`)
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
  if (name.length > HEADER_NAME_MAX || !HEADER_NAME.test(name))
    throw refusal(`${display(input)} is not a valid header name. Use letters, digits and -.`)
  if (RESERVED_HEADERS.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    throw refusal(
      `The header ${name} of the webhook cannot be set, because Wakeful or the connection writes it.`,
    )
  return name
}
