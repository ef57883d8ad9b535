import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import type { KeyRegistry } from '../auth/key-registry.ts'
import { TicketStore } from '../auth/ticket-store.ts'
import { Unread } from '../limits/byte-budget.ts'
import { type Line, Lines } from '../limits/connection-limiter.ts'
import { Pace } from '../limits/event-read-limiter.ts'
import type { Listener } from '../listener.ts'
import type { AppParts } from '../rest/app.ts'
import type { LiveParts } from './live-calls.ts'
import { WsCalls, type WsCallsParts } from './ws-calls.ts'
import { WsDoor } from './ws-endpoint.ts'

/** What bounds live connections: the settings `ws…`. */
export interface LiveOptions {
  /** WebSockets and streams together. */
  readonly connectionsMax?: number
  readonly messageBytesMax?: number
  readonly messagesPerSecond?: number
  readonly bufferBytesMax?: number
  readonly heartbeatMs?: number
  /** How long a reader may take nothing before it is hung up on. */
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

/** What live connections stand on. */
export interface LiveGround {
  readonly keys: KeyRegistry
  readonly documents: Documents
  readonly clock: Clock
  readonly onTrouble: (thrown: unknown) => void
  /** Told of each connection that opens; what it answers is called when it ends. */
  readonly connected?: (kind: Line['kind']) => () => void
}

/** What a WebSocket's calls go through: the same door, the same calls and the same log as over HTTP. */
export type LiveUse = Pick<AppParts, 'door' | 'calls' | 'allowedOrigins' | 'newRequestId' | 'onAnswered'> &
  Pick<WsCallsParts, 'pages'>

/** Everything that stays connected: the WebSocket and the stream of events. */
export class Live {
  readonly tickets: TicketStore
  /** What the calls about live connections are made with. */
  readonly parts: LiveParts
  readonly #ground: LiveGround
  readonly #options: LiveOptions & typeof DEFAULTS
  readonly #lines: Lines
  readonly #pace = new Pace()

  constructor(ground: LiveGround, options: LiveOptions = {}) {
    const { keys, documents, clock, onTrouble, connected } = ground
    this.#ground = ground
    this.#options = { ...DEFAULTS, ...options }
    const { connectionsMax, heartbeatMs, stallMs } = this.#options
    this.tickets = new TicketStore(documents, clock)
    this.#lines = new Lines({ keys, clock, connectionsMax, connected })
    this.parts = {
      tickets: this.tickets,
      lines: this.#lines,
      pace: this.#pace,
      clock,
      heartbeatMs,
      stallMs,
      onTrouble,
    }
  }

  /** Lets WebSockets in at this server. */
  attach(
    listener: Pick<Listener, 'onUpgrade'>,
    { door, calls, pages, allowedOrigins, newRequestId, onAnswered }: LiveUse,
  ): void {
    const { clock, onTrouble } = this.#ground
    const wsCalls = new WsCalls({
      calls,
      pages,
      monotonic: () => clock.monotonic(),
      newRequestId,
      onAnswered,
    })
    const unread = new Unread(UNREAD_BYTES_MAX)
    const lasting = { lines: this.#lines, pace: this.#pace, unread, clock, onTrouble }
    const use = { door, allowedOrigins, calls: wsCalls, ...lasting }
    const wsDoor = new WsDoor({ ...this.#options, ...use })
    listener.onUpgrade((request, socket, head) => wsDoor.take(request, socket, head))
  }

  /** Says goodbye to all: WebSockets are closed (1001), streams end. What does not answer is cut off soon after. */
  close(): void {
    this.#lines.close()
  }
}
