import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as TlsAgent } from 'node:https'
import type { Socket } from 'node:net'
import {
  forbiddenText,
  type Transport,
  TransportFailure,
  type WebhookAnswer,
  type WebhookRequest,
} from '../../targets/index.ts'
import { assertPublicHost, Forbidden, guardedLookup, type LookupAll } from './address-guard.ts'

/** How webhooks are sent. */
export interface TransportOptions {
  readonly allowPrivate: boolean
  /** Asks for the addresses of a name; the system's by default. */
  readonly lookupAll?: LookupAll
  readonly connectMsMax?: number
  readonly bodyMsMax?: number
}

const CONNECT_MS_MAX = 10_000
/** The status is the answer: a body that takes longer than this after it is not waited for. */
const BODY_MS_MAX = 5_000
const BODY_BYTES_MAX = 64 * 1024
const HEADERS_BYTES_MAX = 16 * 1024
const IDLE_MS = 15_000
/** Connections that are kept for later, of each endpoint. */
const IDLE_MAX = 128

/**
 * HTTP by Node's own client: connections are kept and used again, addresses are judged as they are connected to, what is
 * read is bounded, redirects are answers like any other, and no proxy of the environment is used.
 */
export class NodeTransport implements Transport {
  readonly #options: TransportOptions
  #agents: { readonly http: Agent; readonly https: TlsAgent } | null = null

  constructor(options: TransportOptions) {
    this.#options = options
  }

  async send(request: WebhookRequest): Promise<WebhookAnswer> {
    if (!this.#options.allowPrivate) assertPublicHost(request.url.hostname, forbiddenText)
    try {
      return await this.#exchange(request)
    } catch (thrown) {
      // An idle connection that the other side closed as it was used again: nothing was answered, so a new one is tried.
      if (!(thrown instanceof StaleConnection) || request.signal.aborted) throw thrown
      return this.#exchange(request, true)
    }
  }

  /** Closes the connections that are kept. */
  close(): void {
    this.#agents?.http.destroy()
    this.#agents?.https.destroy()
    this.#agents = null
  }

  #exchange({ url, method, headers, body, signal }: WebhookRequest, isAgain = false): Promise<WebhookAnswer> {
    const { http, https } = this.#connections()
    const isTls = url.protocol === 'https:'
    const { connectMsMax = CONNECT_MS_MAX, bodyMsMax = BODY_MS_MAX } = this.#options
    return new Promise((resolve, reject) => {
      const call = (isTls ? requestHttps : requestHttp)({
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port === '' ? undefined : Number(url.port),
        path: `${url.pathname}${url.search}`,
        method,
        headers: body === null ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
        agent: isTls ? https : http,
        maxHeaderSize: HEADERS_BYTES_MAX,
      })
      const abort = () => call.destroy(new Error('broken off'))
      const fail = (thrown: unknown) => {
        signal.removeEventListener('abort', abort)
        reject(failureOf(thrown, url.origin, call.reusedSocket && !isAgain))
      }
      signal.addEventListener('abort', abort)
      boundConnecting(call, isTls, connectMsMax)
      call.once('error', fail)
      call.once('upgrade', (_, socket) => {
        socket.destroy()
        fail(new Error('it switched protocols'))
      })
      call.once('response', (response) => {
        call.off('error', fail)
        // What breaks from here on breaks the body, which says what it can.
        call.on('error', () => {})
        readBody(response, bodyMsMax, (text) => {
          signal.removeEventListener('abort', abort)
          const { statusCode = 0, headers: answered } = response
          resolve({ status: statusCode, retryAfter: answered['retry-after'] ?? null, body: text })
        })
      })
      if (signal.aborted) abort()
      // As one text with the headers, which is then written at once.
      call.end(body ?? '')
    })
  }

  #connections() {
    const kept = { keepAlive: true, maxFreeSockets: IDLE_MAX, timeout: IDLE_MS, scheduling: 'lifo' as const }
    const { allowPrivate, lookupAll } = this.#options
    const lookup = allowPrivate ? {} : { lookup: guardedLookup(lookupAll) }
    this.#agents ??= {
      http: new Agent({ ...kept, ...lookup }),
      https: new TlsAgent({ ...kept, ...lookup, rejectUnauthorized: true }),
    }
    return this.#agents
  }
}

/** A kept connection turned out to be closed. */
class StaleConnection extends TransportFailure {}

/** Errors name what happened by its code alone: their messages hold addresses. */
function failureOf(thrown: unknown, origin: string, isReused: boolean): TransportFailure {
  if (thrown instanceof Forbidden) return new TransportFailure('forbidden', forbiddenText(thrown.message))
  const { code, errors, message } = thrown as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  const inner = errors?.[0]?.code
  const said = code ?? inner ?? (/^[a-z ]+$/i.test(message) ? message : 'the connection failed')
  const text = `${origin} could not be reached: ${said}`
  if (isReused && (code === 'ECONNRESET' || code === 'EPIPE')) return new StaleConnection('network', text)
  return new TransportFailure('network', text, { cause: said })
}

/** Resolving, connecting and the handshake together take no longer than this. */
function boundConnecting(call: ClientRequest, isTls: boolean, msMax: number): void {
  call.once('socket', (socket: Socket) => {
    if (!socket.connecting) return
    const late = setTimeout(
      () => call.destroy(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })),
      msMax,
    )
    const done = () => clearTimeout(late)
    socket.once(isTls ? 'secureConnect' : 'connect', done)
    socket.once('close', done)
  })
}

/** Reads what there is within its bounds; null where it is more than that, takes too long, or breaks off. */
function readBody(response: IncomingMessage, msMax: number, done: (text: string | null) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  let isDone = false
  const finish = (text: string | null) => {
    if (isDone) return
    isDone = true
    clearTimeout(late)
    if (text === null) response.destroy()
    done(text)
  }
  const late = setTimeout(() => finish(null), msMax)
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) finish(null)
    else chunks.push(chunk)
  })
  response.once('end', () => finish(bytes === 0 ? '' : Buffer.concat(chunks).toString('utf8')))
  response.once('error', () => finish(null))
  response.once('close', () => finish(null))
}
