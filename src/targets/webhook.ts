import { assertText, BUILT_IN_POOL } from '../alarm/index.ts'
import { display, inField, WakefulError } from '../error.ts'
import { hostClass } from './address-class.ts'
import type { TargetKind, TargetObject } from './targets.ts'
import {
  sealPurpose,
  type WebhookConfig,
  type WebhookPorts,
  WebhookSender,
  type WebhookSettings,
} from './webhook-delivery.ts'
import { readTemplate } from './webhook-template.ts'

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

/** Parses and validates a webhook; a body of undefined is the standard one. */
export function parseWebhook(spec: TargetObject, allowPrivate: boolean) {
  const method = spec.method === undefined ? 'POST' : inField('method', () => readMethod(spec.method))
  const url = readUrl(spec.webhook, allowPrivate)
  if (method === 'GET' && spec.body !== undefined)
    throw new WakefulError('webhook.body_with_get', {}, { field: 'body' })
  return {
    url,
    method,
    headers: spec.headers === undefined ? null : inField('headers', () => readHeaders(spec.headers)),
    body: spec.body === undefined ? undefined : inField('body', () => readTemplate(spec.body)),
  }
}

function readMethod(input: unknown): string {
  const method = typeof input === 'string' ? input.toUpperCase() : ''
  if (METHODS.includes(method)) return method
  throw new WakefulError('field.not_one_of', { allowed: METHODS, value: display(input) })
}

function readUrl(input: unknown, allowPrivate: boolean): string {
  const text = assertText('webhook', input, URL_BYTES_MAX)
  const at = { field: 'webhook' }
  // A URL parser drops some of these silently, so the URL that is called would differ from the stored one.
  if (/[\p{Cc}\p{White_Space}\\]/u.test(text)) throw new WakefulError('webhook.characters', {}, at)
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new WakefulError('webhook.url', { value: display(text) }, at)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new WakefulError('webhook.credentials', {}, at)
  if (text.includes('#')) throw new WakefulError('webhook.fragment', {}, at)
  const kind = allowPrivate ? null : hostClass(url.hostname)
  if (kind !== null) throw new WakefulError('webhook.forbidden_address', { kind }, at)
  return text
}

function readHeaders(input: unknown): Readonly<Record<string, string>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new WakefulError('webhook.headers', { value: display(input) })
  const entries = Object.entries(input)
  if (entries.length > HEADERS_MAX)
    throw new WakefulError('webhook.too_many_headers', { count: entries.length, max: HEADERS_MAX })
  const headers: Record<string, string> = Object.create(null)
  let bytes = 0
  for (const [written, value] of entries) {
    const name = headerName(written)
    if (name in headers) throw new WakefulError('webhook.header_twice', { name })
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      // The value is not repeated: it may be a secret.
      throw new WakefulError('webhook.header_value', { name })
    }
    headers[name] = value
    bytes += name.length + value.length
  }
  if (bytes > HEADERS_BYTES_MAX) throw new WakefulError('field.too_long', { bytes, max: HEADERS_BYTES_MAX })
  return headers
}

function headerName(input: string): string {
  const name = input.toLowerCase()
  if (name.length > HEADER_NAME_MAX || !HEADER_NAME.test(name))
    throw new WakefulError('webhook.header_name', { name: display(input) })
  if (RESERVED_HEADERS.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    throw new WakefulError('webhook.header_reserved', { name })
  return name
}
