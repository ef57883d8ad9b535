import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { WakefulError } from '../../error.ts'
import { unknownWireField } from '../../errors/index.ts'
import { type Caller, isOwnOrigin } from '../auth/index.ts'
import {
  duplicateHeader,
  type HeaderReader,
  nodeHeaders,
  problemOf,
  problemResponse,
  retryAfter,
} from '../http/index.ts'
import { ByteBudget, type SendBuffer } from '../limits/index.ts'
import type { AppParts } from '../rest/index.ts'
import type { LiveParts } from './live.ts'
import { WS_PATH, WsCalls } from './ws-calls.ts'
import { WsSession } from './ws-session.ts'

/** What waits for the readers of all WebSockets. */
const UNREAD_BYTES_MAX = 256 * 1_048_576

/**
 * What handles the requests to become a WebSocket. Those that may not are answered with a problem document. The calls of
 * the others go through the same authenticator, calls and log as over HTTP.
 */
export function wsEndpoint(live: LiveParts, app: AppParts) {
  const { connections } = live
  const { authenticator, allowedOrigins } = app
  const calls = new WsCalls(app)
  const unread = new ByteBudget<SendBuffer>(UNREAD_BYTES_MAX, (buffer) => buffer.terminate())
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: live.messageBytesMax,
    // Compression costs memory per connection, and a small message can inflate to a large one.
    perMessageDeflate: false,
    // The session answers pings, and only of readers that read.
    autoPong: false,
  })
  // The request is not a WebSocket handshake.
  server.on('wsClientError', ({ message }, socket, { method }) =>
    refuse(
      socket,
      new WakefulError('request.websocket_handshake', { cause: message }),
      method === 'GET' ? 400 : 405,
    ),
  )

  const admit = async (request: IncomingMessage): Promise<Caller> => {
    const duplicate = duplicateHeader(request)
    if (duplicate !== undefined) throw new WakefulError('request.header_twice', { header: duplicate })
    const ticket = ticketOf(request)
    const headers = nodeHeaders(request)
    assertOrigin(headers, allowedOrigins)
    connections.assertCapacity()
    return ticket === undefined
      ? authenticator.admit(headers, 'ws')
      : authenticator.admitTicket(ticket, headers, 'ws')
  }

  const refuse = (socket: Duplex, thrown: unknown, status?: number): void => {
    const mapped = problemOf(thrown)
    const problem = { ...mapped, status: status ?? mapped.status }
    if (problem.status >= 500) live.onError(thrown)
    const body = JSON.stringify(problem)
    const headers = [
      'Sec-WebSocket-Version: 13',
      ...Object.values(retryAfter(thrown)).map((seconds) => `Retry-After: ${seconds}`),
      ...(problem.status === 405 ? ['Allow: GET'] : []),
    ]
    socket.end(problemResponse(problem.status, body, headers), () => socket.destroy())
  }

  return async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    try {
      const caller = await admit(request)
      if (socket.destroyed) return
      // Others may have connected while this one was authenticated.
      connections.assertCapacity(caller)
      server.handleUpgrade(request, socket, head, (open) =>
        new WsSession({ ...live, unread, calls, socket: open, caller }).start(),
      )
    } catch (thrown) {
      refuse(socket, thrown)
    }
  }
}

function ticketOf({ url = '/' }: IncomingMessage): string | undefined {
  const [path, query = ''] = url.split('?', 2) as [string, string?]
  if (path !== WS_PATH) throw new WakefulError('request.no_websocket_here', { path: WS_PATH })
  const { ticket, ...rest } = Object.fromEntries(new URLSearchParams(query)) as { ticket?: string }
  const [unknown] = Object.keys(rest)
  if (unknown === undefined) return ticket
  throw unknownWireField(unknown, ['ticket'])
}

/** A browser lets every page connect and sends the page's origin: only this server's pages and the allowed ones may. Other clients send none. */
function assertOrigin(headers: HeaderReader, allowedOrigins: ReadonlySet<string>): void {
  const origin = headers.get('origin')
  if (origin === null || allowedOrigins.has(origin) || isOwnOrigin(origin, headers.get('host') ?? '')) return
  throw new WakefulError('access.origin', { origin: JSON.stringify(origin.slice(0, 100)) })
}
