import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { hasNoAddress } from '../../errors/index.ts'
import {
  forbiddenText,
  type Transport,
  TransportFailure,
  type WebhookAnswer,
  type WebhookRequest,
} from '../../targets/index.ts'
import { assertPublicHost, Forbidden, guardedLookup, type LookupAll } from './address-guard.ts'

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
    if (!this.#options.allowPrivate) assertPublicHost(request.url.hostname, forbiddenText)
    const agent = this.#agent ?? (await this.#connections())
    try {
      return await this.#exchange(agent, request)
    } catch (thrown) {
      // The server closed an idle connection just as it was reused. There was no response, so a new connection is used.
      if (!(thrown instanceof StaleConnection) || request.signal.aborted) throw thrown
      return this.#exchange(agent, request)
    }
  }

  /** Closes idle connections. */
  close(): void {
    void this.#agent?.destroy()
    this.#agent = null
  }

  #exchange(agent: Agent, request: WebhookRequest): Promise<WebhookAnswer> {
    const { url, method, headers, body, signal } = request
    return new Promise((resolve, reject) => {
      const exchange = new Exchange({
        bodyMsMax: this.#options.bodyMsMax ?? BODY_MS_MAX,
        onAnswered: (answer) => {
          signal.removeEventListener('abort', abort)
          resolve(answer)
        },
        onFailed: (thrown) => {
          signal.removeEventListener('abort', abort)
          reject(failureOf(thrown, url.origin))
        },
      })
      const abort = () => exchange.abort()
      signal.addEventListener('abort', abort)
      if (signal.aborted) abort()
      else
        agent.dispatch(
          { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body },
          exchange,
        )
    })
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

interface ExchangePorts {
  readonly bodyMsMax: number
  readonly onAnswered: (answer: WebhookAnswer) => void
  readonly onFailed: (thrown: unknown) => void
}

/** One request and its response. The body is null if it is too large, too slow, or breaks off. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #ports: ExchangePorts
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | null = null
  #answer: Omit<WebhookAnswer, 'body'> | null = null
  #late: NodeJS.Timeout | null = null
  #bytes = 0
  #isOver = false

  constructor(ports: ExchangePorts) {
    this.#ports = ports
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
    this.#answer = { status, retryAfter: headers['retry-after'] ?? null }
    this.#late = setTimeout(() => this.abort(), this.#ports.bodyMsMax)
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
    if (this.#late !== null) clearTimeout(this.#late)
    if (this.#answer === null) this.#ports.onFailed(thrown)
    else this.#ports.onAnswered({ ...this.#answer, body: thrown === null ? this.#text() : null })
  }

  #text(): string {
    return this.#bytes === 0 ? '' : Buffer.concat(this.#chunks).toString('utf8')
  }
}

/** A reused connection was closed by the server. */
class StaleConnection extends TransportFailure {}

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
function failureOf(thrown: unknown, origin: string): TransportFailure {
  if (thrown instanceof Forbidden) return new TransportFailure('forbidden', forbiddenText(thrown.message))
  const { code, errors, message } = thrown as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  const interim = code === 'UND_ERR_SOCKET' ? NOT_ASKED_FOR[message] : undefined
  if (interim !== undefined)
    return new TransportFailure(
      'network',
      `${origin} answered ${interim}, which was not asked for: the answer behind it is not read`,
      { cause: interim },
    )
  const found = code ?? errors?.[0]?.code
  const name = found === undefined ? undefined : (SYSTEM_CODES[found] ?? found)
  const reason = name ?? (hasNoAddress(message) ? message : 'the connection failed')
  const text = `${origin} could not be reached: ${reason}`
  if ((reason === 'ECONNRESET' || reason === 'EPIPE') && ofKept.has(thrown as Error))
    return new StaleConnection('network', text)
  return new TransportFailure('network', text, { cause: reason })
}
