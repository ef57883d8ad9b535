import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { WakefulError } from '../error.ts'
import { duplicateHeader } from './http/index.ts'
import {
  type BodyBounds,
  BodyLimiter,
  limitedResponse,
  PipelineQueue,
  type ResponseBounds,
  ResponseLimiter,
} from './limits/index.ts'

/** Where to listen, and how long anything may take. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Answers a request, given what Node has of it beside it. */
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>
  readonly backlog?: ResponseBounds
  readonly arriving: BodyBounds
}

const HEADERS_MS_MAX = 10_000
/** From the first byte to the last of a request: those who send slower are hung up on. */
const REQUEST_MS_MAX = 30_000
const IDLE_MS_MAX = 65_000
const HEADER_BYTES_MAX = 32 * 1024
const CONNECTIONS_MAX = 10_000
const CHECK_EACH_MS = 2_000
const BACKLOG: ResponseBounds = { stallMs: 30_000, bytesMax: 256 * 1024 * 1024 }
/** While it closes: how often connections are looked for whose last request has been answered. */
const IDLE_LOOK_MS = 50

/** An HTTP server that is listening. */
export class Listener {
  readonly http: HttpServer
  readonly url: string

  readonly #turns: PipelineQueue

  private constructor(http: HttpServer, url: string, turns: PipelineQueue) {
    this.http = http
    this.url = url
    this.#turns = turns
  }

  static async listen({ host, port, fetch, backlog = BACKLOG, arriving }: ListenOptions): Promise<Listener> {
    const answer = getRequestListener(fetch as never, {
      // Whoever replaces the globals of a process surprises its other parts.
      overrideGlobalObjects: false,
      errorHandler: refuseUnread,
    })
    const turns = new PipelineQueue()
    const bodies = new BodyLimiter(arriving)
    const http = createServer(
      {
        headersTimeout: HEADERS_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: IDLE_MS_MAX,
        maxHeaderSize: HEADER_BYTES_MAX,
        connectionsCheckingInterval: CHECK_EACH_MS,
        ServerResponse: limitedResponse(new ResponseLimiter(backlog)),
        // Node would refuse it without a body: refuseUnread says what is missing.
        requireHostHeader: false,
        // What else somebody would like to speak (h2c) is answered in HTTP/1.1, as the standard has it.
        shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      },
      (incoming, outgoing) => {
        bodies.began(incoming)
        turns.take(outgoing, () => {
          const wrong = wrongWith(incoming)
          if (wrong === undefined) void answer(incoming, outgoing)
          else refuseAtOnce(outgoing, 400, 'Bad Request', wrong)
        })
      },
    )
    http.maxConnections = CONNECTIONS_MAX
    http.on('clientError', (thrown: NodeJS.ErrnoException, socket) => refuseBroken(turns, thrown, socket))
    http.on('connect', (_incoming, socket) => turns.last(socket, () => answerBare(socket, NO_PROXY)))
    http.on('checkExpectation', (_incoming, outgoing) =>
      turns.take(outgoing, () =>
        refuseAtOnce(outgoing, 417, 'Expectation Failed', 'the one Expect that is known is 100-continue'),
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
    return new Listener(http, `http://${name}:${bound.port}`, turns)
  }

  /** Hands requests over that are to become something else, once those before them are answered. */
  onUpgrade(handle: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.http.on('upgrade', (incoming, socket, head) =>
      this.#turns.last(socket, () => handle(incoming, socket, head)),
    )
  }

  /** Takes no more connections, lets requests under way end within the bound, then hangs up. */
  async close(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()))
    // Who asks on and on over a connection of before is answered once more, and then hung up on.
    this.http.prependListener('request', (_incoming, outgoing) => {
      outgoing.shouldKeepAlive = false
    })
    this.http.closeIdleConnections()
    const idle = setInterval(() => this.http.closeIdleConnections(), IDLE_LOOK_MS)
    const hangUp = setTimeout(() => this.http.closeAllConnections(), withinMs)
    await closed
    clearTimeout(hangUp)
    clearInterval(idle)
  }
}

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'
const BROKEN: Readonly<Record<string, readonly [number, string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request was not sent in time'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the headers are too large'],
}

const NO_PROXY = [405, 'Method Not Allowed', 'this is no proxy: there is no CONNECT'] as const

/** What is no HTTP at all is answered as a problem, too, and nothing of it is repeated. */
function refuseBroken(turns: PipelineQueue, thrown: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || thrown.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const said = BROKEN[thrown.code ?? ''] ?? ([400, 'Bad Request', 'this is not HTTP'] as const)
  turns.last(socket, () => answerBare(socket, said))
}

/** Answers where there is no request that Node could answer, and hangs up. */
function answerBare(socket: Duplex, [status, title, detail]: readonly [number, string, string]): void {
  const body = problemText(status, title, detail)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** HTTP that asks for nothing that could be: a target that is no path, a Host that is none, or missing. */
function refuseUnread(thrown: unknown): Response {
  const isTheirs = thrown instanceof Error && thrown.name === 'RequestError'
  const [status, title, detail] = isTheirs
    ? [400, 'Bad Request', 'the target of the request, or its Host, is not right']
    : [500, 'Internal Server Error', 'an error of the server’s own']
  return new Response(problemText(status, title, detail), {
    status,
    headers: { 'content-type': PROBLEM_TYPE, connection: 'close' },
  })
}

/** What two readers of a request could take for different things. */
function wrongWith(incoming: IncomingMessage): string | undefined {
  const twice = duplicateHeader(incoming)
  if (twice !== undefined) return `the request has ${twice} twice`
  const coding = incoming.headers['transfer-encoding']
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined
  return 'the one Transfer-Encoding that is known is chunked'
}

/** Refuses before anything is asked who calls. */
function refuseAtOnce(outgoing: ServerResponse, status: number, title: string, detail: string): void {
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

/** Whether another program has the port. */
export function isPortTaken(thrown: unknown): boolean {
  return (
    thrown instanceof WakefulError &&
    (thrown.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
  )
}

function listenFailure(thrown: NodeJS.ErrnoException, host: string, port: number): WakefulError {
  const where = `${host}:${port}`
  if (thrown.code === 'EADDRINUSE')
    return new WakefulError(
      'invalid_request',
      `${where} is taken by another program, perhaps another 'wakeful serve': give another with --port`,
      { cause: thrown },
    )
  if (thrown.code === 'EACCES')
    return new WakefulError(
      'invalid_request',
      `this user may not listen on ${where}: give a --port from 1024 on`,
      {
        cause: thrown,
      },
    )
  return new WakefulError('invalid_request', `cannot listen on ${where}: ${thrown.message}`, {
    cause: thrown,
  })
}
