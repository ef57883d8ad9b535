import { occurrenceId, originOf, type Target } from '../alarm/index.ts'
import { errorText } from '../error.ts'
import type { Clock } from '../time/index.ts'
import { type Endpoint, Endpoints } from './endpoint.ts'
import { BUILT_IN_POOL } from './pools.ts'
import {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  Postponed,
  type TargetKind,
  type TargetObject,
} from './target-kind.ts'
import { wakeJson } from './wake-body.ts'
import { isServerError, receiptOf } from './webhook-answer.ts'
import {
  type Sealer,
  type SigningKeys,
  type Transport,
  TransportFailure,
  type WebhookAnswer,
  type WebhookRequest,
} from './webhook-ports.ts'
import { parseWebhook } from './webhook-spec.ts'
import { type BodyTemplate, fillTemplate } from './webhook-template.ts'

/** How webhooks are called. */
export interface WebhookSettings {
  /** How long one attempt may take if the alarm does not set it. */
  readonly timeoutMs: number
  /** Calls to one endpoint at a time. */
  readonly perEndpoint: number
  /** After this many failures in a row an endpoint is not called for a while. */
  readonly circuitFailures: number
  readonly circuitOpenMs: number
  readonly circuitOpenMsMax: number
  /** How long after its instant an occurrence waits, uncounted, for an endpoint whose circuit is open. */
  readonly patienceMs: number
  /** Whether webhooks may reach loopback, private and other addresses that are not public. */
  readonly allowPrivate: boolean
}

/** What a host provides for webhooks. */
export interface WebhookPorts {
  readonly clock: Clock
  readonly transport: Transport
  readonly keys: SigningKeys
  readonly sealer: Sealer
  /** Whether this process can sign: it has the secret of its store. */
  readonly canSign: () => boolean
}

/** What a target stores beside its URL. */
interface Config {
  readonly method?: string
  /** Sealed. */
  readonly headers?: string
  readonly body?: BodyTemplate
}

/** The part of its timeout that an attempt may wait in the endpoint's queue. */
const QUEUE_SHARE = 1 / 4

/** Webhooks: signed HTTP requests to a URL, after the Standard Webhooks specification. */
export class WebhookTarget implements TargetKind {
  readonly kind = 'webhook'
  readonly title = 'a webhook'
  readonly fields = ['webhook', 'method', 'headers', 'body']
  readonly #ports: WebhookPorts
  readonly #settings: WebhookSettings
  readonly #endpoints: Endpoints

  constructor(ports: WebhookPorts, settings: WebhookSettings) {
    this.#ports = ports
    this.#settings = settings
    this.#endpoints = new Endpoints(ports.clock, {
      concurrency: settings.perEndpoint,
      failuresMax: settings.circuitFailures,
      openMs: settings.circuitOpenMs,
      openMsMax: settings.circuitOpenMsMax,
    })
  }

  parse(spec: TargetObject): Target {
    const { url, method, headers, body } = parseWebhook(spec, this.#settings.allowPrivate)
    const config: Config = {
      ...(method !== 'POST' && { method }),
      ...(headers !== null && { headers: this.#ports.sealer.seal(JSON.stringify(headers), sealedFor(url)) }),
      ...(body !== undefined && { body }),
    }
    const target = { kind: this.kind, name: url, pool: BUILT_IN_POOL }
    return Object.keys(config).length === 0 ? target : { ...target, config: { ...config } }
  }

  names(): readonly string[] {
    return []
  }

  canRun(): boolean {
    return this.#ports.canSign()
  }

  isTransactional(): boolean {
    return false
  }

  timeoutMs(): number {
    return this.#settings.timeoutMs
  }

  async deliver(delivery: Delivery): Promise<DeliveryReceipt> {
    const { alarm, signal } = delivery
    const url = new URL(alarm.target.name)
    const endpoint = this.#endpoints.of(alarm.tenant, originOf(url))
    this.#assertClosed(delivery, endpoint)
    const call = await endpoint.enter(signal, QUEUE_SHARE * (alarm.timeoutMs ?? this.#settings.timeoutMs))
    try {
      // During the wait the circuit may have opened, or the attempt may have been broken off.
      this.#assertClosed(delivery, endpoint)
      if (signal.aborted) throw new Postponed('broken off in the queue', 0)
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
      const { aborted, reason } = delivery.signal
      const isOurs = aborted ? reason !== 'timeout' : !isNetwork(thrown)
      if (isOurs) circuit.abandoned()
      else circuit.failed()
      if (!(thrown instanceof TransportFailure)) throw thrown
      throw new DeliveryFailure(thrown.message, { final: thrown.kind === 'forbidden', cause: thrown })
    }
    if (isServerError(answer)) circuit.failed()
    else circuit.succeeded()
    return answer
  }

  /**
   * Nothing is sent while the circuit is open. That is not an attempt: the occurrence waits, uncounted. Only after
   * `patienceMs` it fails, one attempt at a time, as it would without the circuit.
   */
  #assertClosed({ timer, firedAt }: Delivery, { circuit, origin }: Endpoint): void {
    const waitMs = circuit.refusal()
    if (waitMs === null) return
    const message = `not sent: ${origin} has failed ${circuit.failures} times in a row, and is left alone for a while`
    if (firedAt - timer.scheduledFor <= this.#settings.patienceMs) throw new Postponed(message, waitMs)
    throw new DeliveryFailure(message, { retryAfterMs: waitMs })
  }

  async #request(delivery: Delivery, url: URL): Promise<WebhookRequest> {
    const { clock, keys } = this.#ports
    const { alarm, timer, signal } = delivery
    const { method = 'POST', headers, body: template } = (alarm.target.config ?? {}) as Config
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
        ...(headers !== undefined && this.#opened(headers, alarm.target.name)),
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures.join(' '),
        ...(alarm.traceparent !== null && { traceparent: alarm.traceparent }),
      },
    }
  }

  #opened(sealed: string, url: string): Record<string, string> {
    try {
      return JSON.parse(this.#ports.sealer.open(sealed, sealedFor(url))) as Record<string, string>
    } catch (thrown) {
      throw new DeliveryFailure(`its headers cannot be opened: ${errorText(thrown)}`, { final: true })
    }
  }
}

/** Headers are sealed for one URL, so that nobody can have them sent elsewhere by moving them in the database. */
function sealedFor(url: string): string {
  return `webhook headers ${url}`
}

function bodyOf(delivery: Delivery, method: string, template: BodyTemplate | undefined): string | null {
  if (method === 'GET') return null
  return template === undefined ? wakeJson(delivery) : fillTemplate(template, delivery)
}

function contentTypeOf(template: BodyTemplate | undefined): string {
  return typeof template === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
}

function isNetwork(thrown: unknown): boolean {
  return thrown instanceof TransportFailure && thrown.kind === 'network'
}
