import { assertText, BUILT_IN_POOL, occurrenceId, originOf, type Target } from '../alarm/index.ts'
import { display, errorText, inField, WakefulError } from '../error.ts'
import type { Clock } from '../time/index.ts'
import { hostClass } from './address-class.ts'
import { type Endpoint, type EndpointSettings, Endpoints } from './endpoint.ts'
import {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  Postponed,
  type TargetKind,
  type TargetObject,
} from './targets.ts'
import { assertUrlTemplate, fillUrl } from './url-template.ts'
import { wakeJson } from './wake-body.ts'
import { isServerError, receiptOf } from './webhook-answer.ts'
import { type BodyTemplate, fillTemplate, readTemplate } from './webhook-template.ts'

/** A request that is ready to be sent. */
export interface WebhookRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Aborted when nothing waits for the response any more. */
  readonly signal: AbortSignal
}

/** The response of an endpoint. */
export interface WebhookAnswer {
  readonly status: number
  readonly retryAfter: string | null
  /** Null if it was too long, too slow or cut off. Reading it is bounded. */
  readonly body: string | null
}

/** Sends requests; the host implements it. It checks addresses when it connects, and follows no redirects. */
export interface Transport {
  /** Throws a `DeliveryFailure` if no response comes. It is final if the address is forbidden. */
  send(request: WebhookRequest): Promise<WebhookAnswer>
}

/** A signing key; the key itself cannot be read. */
export interface SigningKey {
  /** The HMAC-SHA256 of the text, in base64. */
  sign(text: string): string
}

/** The keys that sign webhooks. */
export interface SigningKeys {
  /** The tenant's key, and former ones for a day after they were replaced. */
  of(tenant: string): Promise<readonly SigningKey[]>
}

/** Encrypts texts that readers of the database must not see, such as the headers of a webhook. */
export interface Sealer {
  /** Encrypts a text. It can be opened for the same purpose only. */
  seal(text: string, purpose: string): string
  /** Decrypts a text. Throws if it was sealed with another secret or for another purpose. */
  open(sealed: string, purpose: string): string
}

/** What a host provides for webhooks. */
export interface WebhookPorts {
  readonly clock: Clock
  readonly transport: Transport
  readonly keys: SigningKeys
  readonly sealer: Sealer
  /** Whether this process has the secret of its store. */
  readonly canSign: () => boolean
}

/** How webhooks are called. */
export interface WebhookSettings extends EndpointSettings {
  /** How long one attempt may take if the alarm does not set it. */
  readonly timeoutMs: number
  /** How long an occurrence waits for an endpoint whose circuit is open without using attempts, from its instant on. */
  readonly patienceMs: number
  /** Whether webhooks may reach loopback, private and other addresses that are not public. */
  readonly allowPrivate: boolean
}

/** What the target of a webhook stores besides its URL. */
interface WebhookConfig {
  readonly method?: string
  /** Sealed JSON. */
  readonly headers?: string
  readonly body?: BodyTemplate
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

/** Headers are sealed for one URL, so that copying them to another alarm in the database does not send them elsewhere. */
function sealPurpose(url: string): string {
  return `webhook headers ${url}`
}

/** The share of its timeout that an attempt may spend in the endpoint's queue. */
const QUEUE_SHARE = 1 / 4

/** Webhooks: signed HTTP requests to a URL, after the Standard Webhooks specification. */
export class WebhookTarget implements TargetKind {
  readonly kind = 'webhook'
  readonly fields = ['webhook', 'method', 'headers', 'body']
  readonly #ports: WebhookPorts
  readonly #settings: WebhookSettings
  readonly #endpoints: Endpoints

  constructor(ports: WebhookPorts, settings: WebhookSettings) {
    this.#ports = ports
    this.#settings = settings
    this.#endpoints = new Endpoints(ports.clock, settings)
  }

  parse(spec: TargetObject): Target {
    const { url, method, headers, body } = parseWebhook(spec, this.#settings.allowPrivate)
    const { sealer } = this.#ports
    const config = {
      ...(method !== 'POST' && { method }),
      ...(headers !== null && { headers: sealer.seal(JSON.stringify(headers), sealPurpose(url)) }),
      ...(body !== undefined && { body }),
    }
    const target = { kind: this.kind, name: url, pool: BUILT_IN_POOL }
    return Object.keys(config).length === 0 ? target : { ...target, config }
  }

  canRun(): boolean {
    return this.#ports.canSign()
  }

  timeoutMs(): number {
    return this.#settings.timeoutMs
  }

  async deliver(delivery: Delivery): Promise<DeliveryReceipt> {
    const { alarm, signal } = delivery
    const url = fillUrl(alarm.target.name, delivery)
    const endpoint = this.#endpoints.of(alarm.tenant, originOf(url))
    this.#assertCircuitClosed(delivery, endpoint)
    const call = await endpoint.enter(signal, QUEUE_SHARE * (alarm.timeoutMs ?? this.#settings.timeoutMs))
    try {
      // The circuit may have opened during the wait, and the attempt may have been aborted.
      this.#assertCircuitClosed(delivery, endpoint)
      if (signal.aborted) throw new Postponed('aborted in the queue', 0)
      endpoint.circuit.begin()
      const answer = await this.#call(delivery, url, endpoint)
      return receiptOf(answer, url.origin, this.#ports.clock.now(), delivery.timer.attempt + 1)
    } finally {
      endpoint.leave(call)
    }
  }

  /** Calls the endpoint, and reports the outcome to its circuit. */
  async #call(delivery: Delivery, url: URL, endpoint: Endpoint): Promise<WebhookAnswer> {
    const { circuit } = endpoint
    let answer: WebhookAnswer
    try {
      answer = await this.#ports.transport.send(await this.#request(delivery, url))
    } catch (thrown) {
      if (isEndpointFailure(thrown, delivery.signal)) circuit.failed()
      else circuit.abandoned()
      throw thrown
    }
    if (isServerError(answer)) circuit.failed()
    else circuit.succeeded()
    return answer
  }

  /**
   * Nothing is sent while the circuit is open. The occurrence then waits without using an attempt. After `patienceMs`
   * each wait counts as a failed attempt, so that its alarm fails in the end, as it would without the circuit.
   */
  #assertCircuitClosed({ timer, firedAt }: Delivery, { circuit, origin }: Endpoint): void {
    const waitMs = circuit.refuseUnlessAllowed()
    if (waitMs === null) return
    const message = `not sent: ${origin} has failed ${circuit.failures} times in a row, so calls to it are paused`
    if (firedAt - timer.scheduledFor <= this.#settings.patienceMs) throw new Postponed(message, waitMs)
    throw new DeliveryFailure(message, { retryAfterMs: waitMs })
  }

  async #request(delivery: Delivery, url: URL): Promise<WebhookRequest> {
    const { clock, keys } = this.#ports
    const { alarm, timer, signal } = delivery
    const { method = 'POST', headers, body: template } = (alarm.target.config ?? {}) as WebhookConfig
    const body = bodyOf(delivery, method, template)
    const id = occurrenceId(alarm, timer)
    const timestamp = String(Math.floor(clock.now() / 1_000))
    const signed = `${id}.${timestamp}.${body ?? ''}`
    const signatures = (await keys.of(alarm.tenant)).map((key) => `v1,${key.sign(signed)}`)
    return {
      url,
      method,
      body,
      signal,
      headers: {
        'user-agent': 'wakeful',
        ...(body !== null && { 'content-type': contentTypeOf(template) }),
        ...(headers !== undefined && this.#openHeaders(headers, alarm.target.name)),
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures.join(' '),
        ...(alarm.traceparent !== null && { traceparent: alarm.traceparent }),
      },
    }
  }

  #openHeaders(sealed: string, url: string): Record<string, string> {
    try {
      return JSON.parse(this.#ports.sealer.open(sealed, sealPurpose(url))) as Record<string, string>
    } catch (thrown) {
      throw new DeliveryFailure(`its headers cannot be opened: ${errorText(thrown)}`, { final: true })
    }
  }
}

/** Whether an error counts against the endpoint: not if Wakeful aborted the call, or refused to make it. */
function isEndpointFailure(thrown: unknown, { aborted, reason }: AbortSignal): boolean {
  if (aborted) return reason === 'timeout'
  return thrown instanceof DeliveryFailure && !thrown.final
}

function bodyOf(delivery: Delivery, method: string, template: BodyTemplate | undefined): string | null {
  if (method === 'GET') return null
  return template === undefined ? wakeJson(delivery) : fillTemplate(template, delivery)
}

function contentTypeOf(template: BodyTemplate | undefined): string {
  return typeof template === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
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
  assertUrlTemplate(text)
  return text
}

function readHeaders(input: unknown): Readonly<Record<string, string>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new WakefulError('webhook.headers', { value: display(input) })
  const entries = Object.entries(input)
  if (entries.length > HEADERS_MAX)
    throw new WakefulError('field.too_many', { count: entries.length, unit: 'headers', max: HEADERS_MAX })
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
