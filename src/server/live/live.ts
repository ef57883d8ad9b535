import type { Clock } from '../../time/index.ts'
import type { KeyRegistry } from '../auth/index.ts'
import type { CallsOf } from '../calls/index.ts'
import {
  ByteBudget,
  ConnectionLimiter,
  EventReadLimiter,
  type LiveConnection,
  type SendBuffer,
} from '../limits/index.ts'
import type { AppParts } from '../rest/index.ts'
import { streamCall } from './event-stream.ts'
import { WsCalls, type WsCallsParts } from './ws-calls.ts'
import { WsEndpoint } from './ws-endpoint.ts'

/** What bounds live connections: the settings `ws…`. */
export interface LiveOptions {
  /** WebSockets and streams together. */
  readonly connectionsMax?: number
  readonly messageBytesMax?: number
  readonly messagesPerSecond?: number
  readonly bufferBytesMax?: number
  readonly heartbeatMs?: number
  /** How long a reader may accept nothing before it is disconnected. */
  readonly stallMs?: number
}

const MIB = 1_048_576
/** What waits for the readers of all WebSockets. */
const UNREAD_BYTES_MAX = 256 * MIB
const DEFAULTS = {
  connectionsMax: 1_000,
  messageBytesMax: MIB,
  messagesPerSecond: 50,
  bufferBytesMax: MIB,
  heartbeatMs: 30_000,
  stallMs: 30_000,
}

/** What live connections need from the server. */
export interface LiveContext {
  readonly keys: KeyRegistry
  readonly clock: Clock
  readonly onError: (thrown: unknown) => void
  /** Called when a connection opens; the function it returns is called when it ends. */
  readonly connected?: (kind: LiveConnection['kind']) => () => void
}

/** What a WebSocket's calls go through: the same authenticator, calls and log as over HTTP. */
export type LiveUse = Pick<
  AppParts,
  'authenticator' | 'calls' | 'allowedOrigins' | 'newRequestId' | 'onAnswered'
> &
  Pick<WsCallsParts, 'pages'>

/** The long-lived connections: WebSockets and streams of events. */
export class Live {
  /** The open connections, and the calls that wait. */
  readonly connections: ConnectionLimiter
  /** The call that answers with a stream of events. */
  readonly stream: CallsOf<'stream'>['stream']
  readonly #context: LiveContext
  readonly #options: LiveOptions & typeof DEFAULTS
  readonly #reads = new EventReadLimiter()

  constructor(context: LiveContext, options: LiveOptions = {}) {
    const { keys, clock, onError, connected } = context
    this.#context = context
    this.#options = { ...DEFAULTS, ...options }
    const { connectionsMax, heartbeatMs, stallMs } = this.#options
    this.connections = new ConnectionLimiter({ keys, clock, connectionsMax, connected })
    const { connections } = this
    this.stream = streamCall({ connections, reads: this.#reads, clock, onError, heartbeatMs, stallMs })
  }

  /** Handles the requests to become a WebSocket. */
  attach(
    onUpgrade: (handle: WsEndpoint['handle']) => void,
    { authenticator, calls, pages, allowedOrigins, newRequestId, onAnswered }: LiveUse,
  ): void {
    const { clock, onError } = this.#context
    const endpoint = new WsEndpoint({
      ...this.#options,
      authenticator,
      allowedOrigins,
      calls: new WsCalls({ calls, pages, clock, newRequestId, onAnswered }),
      connections: this.connections,
      reads: this.#reads,
      unread: new ByteBudget<SendBuffer>(UNREAD_BYTES_MAX, (buffer) => buffer.terminate()),
      clock,
      onError,
    })
    onUpgrade((request, socket, head) => endpoint.handle(request, socket, head))
  }

  /** Closes all of them: WebSockets with 1001, streams with their end. Peers that do not answer are disconnected soon after. */
  close(): void {
    this.connections.close()
  }
}
