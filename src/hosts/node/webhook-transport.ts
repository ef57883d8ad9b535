import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { hasNoAddress } from '../../errors/index.ts'
import {
  DeliveryFailure,
  type Transport,
  type WebhookAnswer,
  type WebhookRequest,
} from '../../targets/index.ts'
import { assertPublicHost, guardedLookup, type LookupAll } from './address-guard.ts'

/** The options of webhook requests. */
export interface TransportOptions {
  readonly allowPrivate: boolean
  /** Looks up the addresses of a name; the system's lookup by default. */
  readonly lookupAll?: LookupAll
  readonly connectMsMax?: number
  readonly bodyMsMax?: number
}

/** The timeout of lookup, connection and handshake together. */
const CONNECT_MS_MAX = 10_000
/** How long to wait for a body after the status, which is all that matters. */
const BODY_MS_MAX = 5_000
const BODY_BYTES_MAX = 64 * 1024
const HEADERS_BYTES_MAX = 16 * 1024
const IDLE_MS = 15_000
/** Concurrent connections to one origin, of all tenants. */
const CONNECTIONS_MAX = 1_000

/**
 * HTTP requests with undici, which takes half the time of Node's own client. Connections are reused, addresses are checked
 * when connecting, responses are bounded, redirects are not followed, and proxies of the environment are ignored.
 */
export class NodeTransport implements Transport {
  readonly #options: TransportOptions
  #agent: Agent | null = null

  constructor(options: TransportOptions) {
    this.#options = options
  }

  async send(request: WebhookRequest): Promise<WebhookAnswer> {
    if (!this.#options.allowPrivate) assertPublicHost(request.url.hostname)
    const agent = this.#agent ?? (await this.#connections())
    try {
      return await this.#exchange(agent, request)
    } catch (thrown) {
      // The server closed an idle connection just as it was reused. There was no response, so a new connection is used.
      if (!(thrown instanceof StaleConnection) || request.signal.aborted) throw thrown
      return this.#exchange(agent, request)
    }
  }

  close(): void {
    void this.#agent?.destroy()
    this.#agent = null
  }

  async #exchange(agent: Agent, request: WebhookRequest): Promise<WebhookAnswer> {
    const { url, method, headers, body, signal } = request
    const exchange = new Exchange(this.#options.bodyMsMax ?? BODY_MS_MAX)
    const abort = () => exchange.abort()
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    else {
      const path = `${url.pathname}${url.search}`
      agent.dispatch({ origin: url.origin, path, method, headers, body }, exchange)
    }
    try {
      return await exchange.answer
    } catch (thrown) {
      throw failureOf(thrown, url.origin)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Loaded with the first webhook, to save startup time without webhooks. */
  async #connections(): Promise<Agent> {
    const { Agent, buildConnector } = await import('undici')
    const { allowPrivate, lookupAll, connectMsMax = CONNECT_MS_MAX } = this.#options
    const connector = buildConnector({
      timeout: connectMsMax,
      rejectUnauthorized: true,
      ...(!allowPrivate && { lookup: guardedLookup(lookupAll) }),
    })
    this.#agent ??= new Agent({
      connect: telling(connector),
      connections: CONNECTIONS_MAX,
      maxHeaderSize: HEADERS_BYTES_MAX,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      allowH2: false,
      // Attempts and bodies have their own timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return this.#agent
  }
}

/** One request and its response. The body is null if it is too large, too slow, or breaks off. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #answered = Promise.withResolvers<WebhookAnswer>()
  readonly #bodyMsMax: number
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | null = null
  #head: Omit<WebhookAnswer, 'body'> | null = null
  #late: NodeJS.Timeout | undefined
  #bytes = 0
  #isOver = false

  constructor(bodyMsMax: number) {
    this.#bodyMsMax = bodyMsMax
  }

  get answer(): Promise<WebhookAnswer> {
    return this.#answered.promise
  }

  /** The caller no longer waits. */
  abort(): void {
    this.#end(new Error('broken off'))
    this.#controller?.abort(new Error('broken off'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('broken off'))
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // Interim responses.
    if (status < 200) return
    this.#head = { status, retryAfter: headers['retry-after'] ?? null }
    this.#late = setTimeout(() => this.abort(), this.#bodyMsMax)
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > BODY_BYTES_MAX) this.abort()
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#end(null)
  }

  onResponseError(_: unknown, thrown: Error): void {
    this.#end(thrown)
  }

  /** An error after the status loses only the body. */
  #end(thrown: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#late)
    if (this.#head === null) this.#answered.reject(thrown)
    else this.#answered.resolve({ ...this.#head, body: thrown === null ? this.#text() : null })
  }

  #text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

/** A reused connection was closed by the server. */
class StaleConnection extends DeliveryFailure {}

/** Errors of reused connections that have not responded to the failed request. */
const ofKept = new WeakSet<Error>()

/** A connector that marks the errors of reused connections. */
function telling(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null)
        return
      }
      const write = socket.write
      let readBefore = 0
      socket.write = ((...args: Parameters<typeof write>) => {
        readBefore = socket.bytesRead
        return write.apply(socket, args)
      }) as typeof write
      socket.on('error', (thrown: Error) => {
        if (readBefore > 0 && socket.bytesRead === readBefore) ofKept.add(thrown)
      })
      callback(null, socket)
    })
}

/** Error codes of undici, and those of the system for the same. */
const SYSTEM_CODES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
}

/** Interim responses at which undici drops the connection, by their error texts. It has no option against that. */
const NOT_ASKED_FOR: Readonly<Record<string, string>> = {
  'bad response': '100 Continue',
  'bad upgrade': '101 Switching Protocols',
}

/** Errors are described by their code, because their messages contain addresses. */
function failureOf(thrown: unknown, origin: string): DeliveryFailure {
  if (thrown instanceof DeliveryFailure) return thrown
  const { code, errors, message } = thrown as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  const interim = code === 'UND_ERR_SOCKET' ? NOT_ASKED_FOR[message] : undefined
  if (interim !== undefined)
    return new DeliveryFailure(
      `${origin} answered ${interim}, which was not asked for: the answer behind it is not read`,
      { cause: interim },
    )
  const found = code ?? errors?.[0]?.code
  const name = found === undefined ? undefined : (SYSTEM_CODES[found] ?? found)
  const reason = name ?? (hasNoAddress(message) ? message : 'the connection failed')
  const text = `${origin} could not be reached: ${reason}`
  if ((reason === 'ECONNRESET' || reason === 'EPIPE') && ofKept.has(thrown as Error))
    return new StaleConnection(text)
  return new DeliveryFailure(text, { cause: reason })
}
