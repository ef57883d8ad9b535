import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { errorText, WakefulError } from '../error.ts'
import { duplicateHeader } from './http/index.ts'
import {
  type BodyBounds,
  BodyLimiter,
  limitedResponse,
  PipelineQueue,
  type ResponseBounds,
  ResponseLimiter,
} from './limits/index.ts'

/** Where to listen, and what bounds the connections. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Answers a request; `env` has Node's own request and response. */
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>
  readonly responses?: ResponseBounds
  readonly bodies: BodyBounds
}

const HEADERS_MS_MAX = 10_000
/** From the first byte to the last of a request: slower clients are disconnected. */
const REQUEST_MS_MAX = 30_000
const IDLE_MS_MAX = 65_000
const HEADER_BYTES_MAX = 32 * 1024
const CONNECTIONS_MAX = 10_000
const TIMEOUT_CHECK_MS = 2_000
const RESPONSES: ResponseBounds = { stallMs: 30_000, bytesMax: 256 * 1024 * 1024 }
/** While it closes: how often idle connections are closed. */
const IDLE_CHECK_MS = 50

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

  static async listen({
    host,
    port,
    fetch,
    responses = RESPONSES,
    bodies,
  }: ListenOptions): Promise<Listener> {
    const answer = getRequestListener(fetch as never, {
      // Replacing globals would change the rest of the process.
      overrideGlobalObjects: false,
      errorHandler: answerUnreadable,
    })
    const pipelines = new PipelineQueue()
    const bodyLimiter = new BodyLimiter(bodies)
    const http = createServer(
      {
        headersTimeout: HEADERS_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: IDLE_MS_MAX,
        maxHeaderSize: HEADER_BYTES_MAX,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        ServerResponse: limitedResponse(new ResponseLimiter(responses)),
        // Node would answer without a body; answerUnreadable answers with a problem document.
        requireHostHeader: false,
        // Other upgrades (h2c) are ignored and answered in HTTP/1.1, as the standard allows.
        shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      },
      (incoming, outgoing) => {
        bodyLimiter.add(incoming)
        pipelines.add(outgoing, () => {
          const ambiguity = ambiguityOf(incoming)
          if (ambiguity === undefined) void answer(incoming, outgoing)
          else answerEarly(outgoing, 400, 'Bad Request', ambiguity)
        })
      },
    )
    http.maxConnections = CONNECTIONS_MAX
    http.on('clientError', (thrown: NodeJS.ErrnoException, socket) => answerBroken(pipelines, thrown, socket))
    http.on('connect', (_incoming, socket) =>
      pipelines.addFinal(socket, () => answerSocket(socket, NO_PROXY)),
    )
    http.on('checkExpectation', (_incoming, outgoing) =>
      pipelines.add(outgoing, () =>
        answerEarly(outgoing, 417, 'Expectation Failed', 'the only Expect supported is 100-continue'),
      ),
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

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'
const BROKEN: Readonly<Record<string, readonly [number, string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request was not sent in time'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the headers are too large'],
}

const NO_PROXY = [405, 'Method Not Allowed', 'this is not a proxy: CONNECT is not supported'] as const

/** Answers bytes that are not HTTP with a problem document, which repeats nothing of them. */
function answerBroken(pipelines: PipelineQueue, thrown: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || thrown.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problem = BROKEN[thrown.code ?? ''] ?? ([400, 'Bad Request', 'this is not HTTP'] as const)
  pipelines.addFinal(socket, () => answerSocket(socket, problem))
}

/** Answers where Node has no request to answer, and closes the connection. */
function answerSocket(socket: Duplex, [status, title, detail]: readonly [number, string, string]): void {
  const body = problemText(status, title, detail)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** The answer to a failed request: 400 if its target or its Host is invalid or missing, 500 for anything else. */
function answerUnreadable(thrown: unknown): Response {
  const isInvalid = thrown instanceof Error && thrown.name === 'RequestError'
  const [status, title, detail] = isInvalid
    ? [400, 'Bad Request', 'the target of the request or its Host is invalid']
    : [500, 'Internal Server Error', 'internal error']
  return new Response(problemText(status, title, detail), {
    status,
    headers: { 'content-type': PROBLEM_TYPE, connection: 'close' },
  })
}

/** What a proxy and this server could read differently (request smuggling); undefined if nothing. */
function ambiguityOf(incoming: IncomingMessage): string | undefined {
  const duplicate = duplicateHeader(incoming)
  if (duplicate !== undefined) return `The request has ${duplicate} twice.`
  const coding = incoming.headers['transfer-encoding']
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined
  return 'the only Transfer-Encoding supported is chunked'
}

/** Answers before the caller is authenticated. */
function answerEarly(outgoing: ServerResponse, status: number, title: string, detail: string): void {
  const body = problemText(status, title, detail)
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  outgoing.writeHead(status, headers).end(body)
}

function problemText(status: number, title: string, detail: string): string {
  const code = status < 500 ? 'invalid_request' : 'internal'
  return JSON.stringify({ type: `urn:wakeful:problem:${code}`, title, status, code, detail })
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
  return new WakefulError('listen.failed', { address: where, text: errorText(thrown) }, { cause: thrown })
}
