import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import type { Authenticator, Caller } from '../auth/index.ts'
import {
  duplicateHeader,
  type HeaderReader,
  isOwnOrigin,
  NodeHeaders,
  problemOf,
  retryAfter,
  unknownField,
} from '../http/index.ts'
import type { ByteBudget, ConnectionLimiter, EventReadLimiter, SendBuffer } from '../limits/index.ts'
import { WS_PATH, type WsCalls } from './ws-calls.ts'
import { type WsBounds, WsSession } from './ws-session.ts'

/** What the endpoint is made of. */
export interface WsEndpointParts extends WsBounds {
  readonly authenticator: Authenticator
  readonly calls: WsCalls
  readonly connections: ConnectionLimiter
  readonly clock: Clock
  readonly unread: ByteBudget<SendBuffer>
  readonly reads: EventReadLimiter
  readonly allowedOrigins: ReadonlySet<string>
  readonly onError: (thrown: unknown) => void
}

/** Handles the requests to become a WebSocket. Those that may not are answered with a problem document. */
export class WsEndpoint {
  readonly #parts: WsEndpointParts
  readonly #server: WebSocketServer

  constructor(parts: WsEndpointParts) {
    this.#parts = parts
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: parts.messageBytesMax,
      // Compression costs memory per connection, and a small message can inflate to a large one.
      perMessageDeflate: false,
      // The session answers pings, and only of readers that read.
      autoPong: false,
    })
    // The request is not a WebSocket handshake.
    this.#server.on('wsClientError', ({ message }, socket, { method }) =>
      this.#refuse(
        socket,
        new WakefulError('request.websocket_handshake', { detail: message }),
        method === 'GET' ? 400 : 405,
      ),
    )
  }

  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#admit(request).then(
      (caller) => {
        if (!socket.destroyed) this.#open(request, socket, head, caller)
      },
      (thrown: unknown) => this.#refuse(socket, thrown),
    )
  }

  async #admit(request: IncomingMessage): Promise<Caller> {
    const { authenticator, connections, allowedOrigins } = this.#parts
    const duplicate = duplicateHeader(request)
    if (duplicate !== undefined) throw new WakefulError('request.header_twice', { header: duplicate })
    const ticket = ticketOf(request)
    const headers = new NodeHeaders(request)
    assertOrigin(headers, allowedOrigins)
    connections.assertCapacity()
    return ticket === undefined
      ? authenticator.admit(headers, 'ws')
      : authenticator.admitTicket(ticket, headers, 'ws')
  }

  #open(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): void {
    try {
      // Others may have connected while this one was authenticated.
      this.#parts.connections.assertCapacity(caller)
    } catch (thrown) {
      this.#refuse(socket, thrown)
      return
    }
    this.#server.handleUpgrade(request, socket, head, (open) =>
      new WsSession({ ...this.#parts, socket: open, caller }).start(),
    )
  }

  #refuse(socket: Duplex, thrown: unknown, status?: number): void {
    const mapped = problemOf(thrown)
    const problem = { ...mapped, status: status ?? mapped.status }
    if (problem.status >= 500) this.#parts.onError(thrown)
    const body = JSON.stringify(problem)
    const headers = [
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Sec-WebSocket-Version: 13',
      ...Object.values(retryAfter(thrown)).map((seconds) => `Retry-After: ${seconds}`),
      ...(problem.status === 405 ? ['Allow: GET'] : []),
      'Connection: close',
    ]
    socket.end(
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`,
      () => socket.destroy(),
    )
  }
}

function ticketOf({ url = '/' }: IncomingMessage): string | undefined {
  const [path, query = ''] = url.split('?', 2) as [string, string?]
  if (path !== WS_PATH) throw new WakefulError('request.no_websocket_here', { path: WS_PATH })
  const { ticket, ...rest } = Object.fromEntries(new URLSearchParams(query)) as { ticket?: string }
  const [unknown] = Object.keys(rest)
  if (unknown === undefined) return ticket
  throw unknownField(unknown, ['ticket'])
}

/** A browser lets every page connect and sends the page's origin: only this server's pages and the allowed ones may. Other clients send none. */
function assertOrigin(headers: HeaderReader, allowedOrigins: ReadonlySet<string>): void {
  const origin = headers.get('origin')
  if (origin === null || allowedOrigins.has(origin) || isOwnOrigin(origin, headers.get('host') ?? '')) return
  throw new WakefulError('access.origin', { origin: JSON.stringify(origin.slice(0, 100)) })
}
