import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { errorText, WakefulError } from '../error.ts'
import {
  answerBroken,
  answerEarly,
  answerSocket,
  answerUnreadable,
  refuseAmbiguous,
  withCheckHost,
} from './http/index.ts'
import { bodyLimiter, HTTP_LIMITS, type HttpLimits, PipelineQueue, responseLimiter } from './limits/index.ts'

/** Where to listen, and the limits of the connections. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Answers a request; `env` has Node's own request and response. */
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>
  /** No more than this is kept of one body. */
  readonly bodyBytesMax: number
  readonly limits?: HttpLimits
}

const HEADERS_MS_MAX = 10_000
/** From the first byte to the last of a request: slower clients are disconnected. */
const REQUEST_MS_MAX = 30_000
const IDLE_MS_MAX = 65_000
const HEADER_BYTES_MAX = 32 * 1024
const CONNECTIONS_MAX = 10_000
const TIMEOUT_CHECK_MS = 2_000
/** While it closes: how often idle connections are closed. */
const IDLE_CHECK_MS = 50

/** An HTTP server that is listening. */
export class Listener {
  readonly http: HttpServer
  readonly url: string

  readonly #pipelines: PipelineQueue
  #endsKeepAlive = false

  private constructor(http: HttpServer, url: string, pipelines: PipelineQueue) {
    this.http = http
    this.url = url
    this.#pipelines = pipelines
  }

  static async listen(options: ListenOptions): Promise<Listener> {
    const { host, port, fetch, bodyBytesMax, limits = HTTP_LIMITS } = options
    const answer = getRequestListener(fetch as never, {
      // Replacing globals would change the rest of the process.
      overrideGlobalObjects: false,
      errorHandler: answerUnreadable,
    })
    const pipelines = new PipelineQueue()
    const http = createServer({
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: IDLE_MS_MAX,
      maxHeaderSize: HEADER_BYTES_MAX,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      ServerResponse: responseLimiter(limits),
      // Node would answer without a body; answerUnreadable answers with a problem document.
      requireHostHeader: false,
      // Other upgrades (h2c) are ignored and answered in HTTP/1.1, as the standard allows.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    })
    http.maxConnections = CONNECTIONS_MAX
    http.on('request', bodyLimiter(limits, bodyBytesMax))
    http.on('request', pipelines.inOrder(withCheckHost(refuseAmbiguous(answer))))
    http.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
      if (socket.writable && code !== 'ECONNRESET')
        pipelines.addFinal(socket, () => answerBroken(socket, code))
      else socket.destroy()
    })
    http.on('connect', (_incoming, socket) =>
      pipelines.addFinal(socket, () =>
        answerSocket(socket, 405, 'this is not a proxy: CONNECT is not supported'),
      ),
    )
    http.on(
      'checkExpectation',
      pipelines.inOrder((_incoming, outgoing) =>
        answerEarly(outgoing, 417, 'the only Expect supported is 100-continue'),
      ),
    )
    http.listen(port, host)
    await once(http, 'listening').catch((thrown: NodeJS.ErrnoException) => {
      throw listenFailure(thrown, host, port)
    })
    const bound = http.address() as AddressInfo
    const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
    return new Listener(http, `http://${name}:${bound.port}`, pipelines)
  }

  /** Handles requests to upgrade, once those before them are answered. */
  onUpgrade(handle: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.http.on('upgrade', (incoming, socket, head) =>
      this.#pipelines.addFinal(socket, () => handle(incoming, socket, head)),
    )
  }

  /**
   * From now on, the response to a connection's next request says that the connection is closed, and it is. Idle connections
   * stay open, because a request may be on its way.
   */
  endKeepAlive(): void {
    if (this.#endsKeepAlive) return
    this.#endsKeepAlive = true
    this.http.prependListener('request', (_incoming, outgoing) => {
      outgoing.shouldKeepAlive = false
    })
  }

  /** Closes the connections that wait for their next request. */
  closeIdle(): void {
    this.http.closeIdleConnections()
  }

  /** Accepts no more connections, waits for running requests up to the bound, then closes all connections. */
  async close(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()))
    this.endKeepAlive()
    this.closeIdle()
    const idle = setInterval(() => this.closeIdle(), IDLE_CHECK_MS)
    const closeAll = setTimeout(() => this.http.closeAllConnections(), withinMs)
    await closed
    clearTimeout(closeAll)
    clearInterval(idle)
  }
}

/** Whether the port is in use by another program. */
export function isPortInUse(thrown: unknown): boolean {
  return (
    thrown instanceof WakefulError &&
    (thrown.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
  )
}

function listenFailure(thrown: NodeJS.ErrnoException, host: string, port: number): WakefulError {
  const where = `${host}:${port}`
  if (thrown.code === 'EADDRINUSE')
    return new WakefulError('listen.in_use', { address: where }, { cause: thrown })
  if (thrown.code === 'EACCES')
    return new WakefulError('listen.not_permitted', { address: where }, { cause: thrown })
  return new WakefulError('listen.failed', { address: where, cause: errorText(thrown) }, { cause: thrown })
}
