import { createServer, type Server as HttpServer, type IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { errorText, WakefulError } from '../error.ts'
import { answerBroken, answerEarly, answerSocket, answerUnreadable, duplicateHeader } from './http/index.ts'
import { ByteBudget } from './limits/index.ts'

const MIB = 1_048_576
const BOUNDS = {
  /** Bodies that are being received, over all connections. Beyond it, the requests that began first are disconnected. */
  bodiesBytesMax: 256 * MIB,
  /**
   * Responses that were written and not read yet, over all connections. Beyond it, the clients that have not read for the
   * longest time are disconnected.
   */
  unreadBytesMax: 256 * MIB,
  /** A client that reads nothing of a complete response for this long is disconnected. Streams have their own bound. */
  stallMs: 30_000,
}

/** What bounds bodies and responses. */
export type ListenerBounds = Readonly<typeof BOUNDS>

/** Where to listen, and what bounds the connections. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Answers a request; `env` has Node's own request and response. */
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>
  /** No more than this is kept of one body. */
  readonly bodyBytesMax: number
  readonly bounds?: ListenerBounds
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
/** With more pipelined requests than this, a connection is not read until some are answered. */
const AHEAD_READ = 8
/** Requests that arrive in one packet are all parsed. A client that reads responses never sends this many ahead. */
const AHEAD_MAX = 100
/** Bodies that declare no more than this are not counted: they arrive together with their headers. */
const SMALL_BYTES = 64 * 1024
const COUNT_EACH_MS = 250

/** An HTTP server that is listening. */
export class Listener {
  readonly http: HttpServer
  readonly url: string

  readonly #pipelines: PipelineQueue

  private constructor(http: HttpServer, url: string, pipelines: PipelineQueue) {
    this.http = http
    this.url = url
    this.#pipelines = pipelines
  }

  static async listen(options: ListenOptions): Promise<Listener> {
    const { host, port, fetch, bodyBytesMax, bounds = BOUNDS } = options
    const answer = getRequestListener(fetch as never, {
      // Replacing globals would change the rest of the process.
      overrideGlobalObjects: false,
      errorHandler: answerUnreadable,
    })
    const pipelines = new PipelineQueue()
    const countBody = bodyLimiter(bounds, bodyBytesMax)
    const http = createServer(
      {
        headersTimeout: HEADERS_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: IDLE_MS_MAX,
        maxHeaderSize: HEADER_BYTES_MAX,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        ServerResponse: limitedResponse(bounds),
        // Node would answer without a body; answerUnreadable answers with a problem document.
        requireHostHeader: false,
        // Other upgrades (h2c) are ignored and answered in HTTP/1.1, as the standard allows.
        shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      },
      (incoming, outgoing) => {
        countBody(incoming)
        pipelines.add(outgoing, () => {
          const ambiguity = ambiguityOf(incoming)
          if (ambiguity === undefined) void answer(incoming, outgoing)
          else answerEarly(outgoing, 400, ambiguity)
        })
      },
    )
    http.maxConnections = CONNECTIONS_MAX
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
    http.on('checkExpectation', (_incoming, outgoing) =>
      pipelines.add(outgoing, () => answerEarly(outgoing, 417, 'the only Expect supported is 100-continue')),
    )
    await new Promise<void>((resolve, reject) => {
      const refused = (thrown: NodeJS.ErrnoException) => reject(listenFailure(thrown, host, port))
      http.once('error', refused)
      http.listen(port, host, () => {
        http.off('error', refused)
        resolve()
      })
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

  /** Accepts no more connections, waits for running requests up to the bound, then closes all connections. */
  async close(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()))
    // An open connection gets one more response, and is then closed.
    this.http.prependListener('request', (_incoming, outgoing) => {
      outgoing.shouldKeepAlive = false
    })
    this.http.closeIdleConnections()
    const idle = setInterval(() => this.http.closeIdleConnections(), IDLE_CHECK_MS)
    const closeAll = setTimeout(() => this.http.closeAllConnections(), withinMs)
    await closed
    clearTimeout(closeAll)
    clearInterval(idle)
  }
}

/** What a proxy and this server could read differently (request smuggling); undefined if nothing. */
function ambiguityOf(incoming: IncomingMessage): string | undefined {
  const duplicate = duplicateHeader(incoming)
  if (duplicate !== undefined) return `The request has ${duplicate} twice.`
  const coding = incoming.headers['transfer-encoding']
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined
  return 'the only Transfer-Encoding supported is chunked'
}

interface Pipelined {
  /** What it is answered with; null where no response follows on this connection. */
  readonly outgoing: ServerResponse | null
  readonly answer: () => void
}

interface Pipeline {
  /** The request that is being answered. */
  current: ServerResponse | null
  readonly ahead: Pipelined[]
}

/**
 * Answers the requests of one connection one after the other, each once the response before it was sent. A client that
 * sends many ahead and reads nothing costs the work of one, and a read behind a write sees what was written.
 */
class PipelineQueue {
  readonly #pipelines = new WeakMap<Duplex, Pipeline>()

  /** Answers at once, or after the connection's earlier requests; never if the connection ends before. */
  add(outgoing: ServerResponse, answer: () => void): void {
    this.#add(outgoing.req.socket, { outgoing, answer })
  }

  /** Answers a request that upgrades or ends the connection, in the same order. */
  addFinal(socket: Duplex, answer: () => void): void {
    // Node no longer handles errors of this socket.
    socket.on('error', () => socket.destroy())
    const current = this.#pipelines.get(socket)?.current
    // An incomplete request was cut off. Answer it now, unless it was answered already: the rest will never arrive.
    if (current?.req.complete !== false) this.#add(socket, { outgoing: null, answer })
    else if (!current.headersSent) answer()
    else if (!current.writableEnded) socket.destroy()
  }

  #add(socket: Duplex, request: Pipelined): void {
    const pipeline = this.#pipelines.get(socket)
    if (pipeline === undefined) {
      this.#start(socket, { current: null, ahead: [] }, request)
      return
    }
    const ahead = pipeline.ahead.push(request)
    if (ahead > AHEAD_MAX) socket.destroy()
    // After Node is done with this packet: it resumes a socket after each complete request.
    else if (ahead === AHEAD_READ + 1) process.nextTick(() => socket.pause())
  }

  #start(socket: Duplex, pipeline: Pipeline, { outgoing, answer }: Pipelined): void {
    pipeline.current = outgoing
    this.#pipelines.set(socket, pipeline)
    outgoing?.once('close', () => {
      if (pipeline.ahead.length === 0 || socket.destroyed) this.#pipelines.delete(socket)
      // The kernel may accept every response at once: without a pause, one connection would block all others.
      else setImmediate(() => this.#next(socket, pipeline))
    })
    answer()
  }

  #next(socket: Duplex, pipeline: Pipeline): void {
    if (socket.destroyed) return
    const next = pipeline.ahead.shift()!
    if (pipeline.ahead.length === AHEAD_READ) socket.resume()
    this.#start(socket, pipeline, next)
  }
}

/** Bounds the bodies that are being received: each is kept in memory until it is complete. Returns what counts a request's. */
function bodyLimiter(
  { bodiesBytesMax }: ListenerBounds,
  bodyBytesMax: number,
): (request: IncomingMessage) => void {
  const budget = new ByteBudget<IncomingMessage>(bodiesBytesMax, ({ socket }) => socket.destroy())
  /** What the connection of each had read when the request began. */
  const readBefore = new Map<IncomingMessage, number>()
  let counting: NodeJS.Timeout | undefined
  const countAll = () => {
    for (const [request, before] of readBefore) {
      const bytes = Math.min(request.socket.bytesRead - before, bodyBytesMax)
      // At least one, so that requests keep the order in which they began.
      budget.count(request, Math.max(1, bytes))
    }
    budget.enforce()
  }
  const remove = (request: IncomingMessage) => {
    readBefore.delete(request)
    budget.count(request, 0)
    if (readBefore.size > 0) return
    clearInterval(counting)
    counting = undefined
  }
  return (request) => {
    const { headers, socket } = request
    const isSmall = Number(headers['content-length'] ?? 0) <= SMALL_BYTES
    if (headers['transfer-encoding'] === undefined && isSmall) return
    readBefore.set(request, socket.bytesRead)
    counting ??= setInterval(countAll, COUNT_EACH_MS).unref()
    request.once('close', () => remove(request))
  }
}

/**
 * The class of a server's responses. It bounds those that were written and not read yet: one per connection, since requests
 * are answered in order.
 */
function limitedResponse({ unreadBytesMax, stallMs }: ListenerBounds): typeof ServerResponse {
  const unread = new ByteBudget<ServerResponse>(unreadBytesMax, ({ req }) => req.socket.destroy())
  /** Part of a response was written, perhaps all of it. */
  const wrote = (response: ServerResponse) => {
    const { socket } = response.req
    if (socket.destroyed) return
    if (response.writableLength === 0) sent(response)
    else unread.count(response, response.writableLength)
    // Node counts it as progress when the kernel accepts some of it.
    if (response.writableEnded && unread.has(response)) socket.setTimeout(stallMs)
    if (!unread.isExceeded) return
    // Streams send what was buffered without a call here, so count again before anyone is disconnected.
    unread.recount(({ writableLength }) => writableLength)
    unread.enforce()
  }
  /** All of it was sent, or its reader has gone. */
  const sent = (response: ServerResponse) => {
    if (!unread.has(response)) return
    unread.count(response, 0)
    response.req.socket.setTimeout(0)
  }
  return class<R extends IncomingMessage> extends ServerResponse<R> {
    constructor(...args: ConstructorParameters<typeof ServerResponse<R>>) {
      super(...args)
      // Before Node's own listener, which sets the timeout of an idle connection.
      this.once('finish', () => sent(this))
      this.once('close', () => sent(this))
    }

    override write(...args: unknown[]): boolean {
      const isBelowMark = super.write(...(args as [string]))
      wrote(this)
      return isBelowMark
    }

    override end(...args: unknown[]): this {
      super.end(...(args as []))
      wrote(this)
      return this
    }
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
