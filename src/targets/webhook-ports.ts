/** A request that is ready to be sent. */
export interface WebhookRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Aborted when the answer is no longer awaited. */
  readonly signal: AbortSignal
}

/** What came back. */
export interface WebhookAnswer {
  readonly status: number
  readonly retryAfter: string | null
  /** Null where it was too long, too slow or broken off: what is read of it is bounded. */
  readonly body: string | null
}

/** Sends requests: the host's part. It judges addresses when it connects, and follows no redirect. */
export interface Transport {
  /** Throws a `TransportFailure` where there is no answer. */
  send(request: WebhookRequest): Promise<WebhookAnswer>
}

/** No answer: the network failed (`network`), or the host will not connect to such an address (`forbidden`). */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure'
  readonly kind: 'network' | 'forbidden'

  constructor(kind: 'network' | 'forbidden', message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.kind = kind
  }
}

/** A key that signs and cannot be read. */
export interface SigningKey {
  /** The HMAC-SHA256 of the text, in base64. */
  sign(text: string): string
}

/** Whose keys sign webhooks. */
export interface SigningKeys {
  /** The tenant's key; for a day after it was replaced, each former one too. */
  of(tenant: string): Promise<readonly SigningKey[]>
}

/** Keeps from readers of the database what is only for the receiver's eyes. */
export interface Sealer {
  /** Seals a text so that it can be opened for the same purpose only. */
  seal(text: string, purpose: string): string
  /** Throws where it was sealed with another secret, or for another purpose. */
  open(sealed: string, purpose: string): string
}
