import type { Clock } from '../../time/index.ts'
import type { ConnectionLimiter, EventReadLimiter } from '../limits/index.ts'

const MIB = 1_048_576
/** The limits of live connections by default. */
export const LIVE_LIMITS = {
  /** WebSockets and streams together. */
  connectionsMax: 1_000,
  messageBytesMax: MIB,
  messagesPerSecond: 50,
  bufferBytesMax: MIB,
  heartbeatMs: 30_000,
  /** How long a reader may accept nothing before it is disconnected. It can resume. */
  stallMs: 30_000,
}

/** The limits of live connections: the settings `ws…`. */
export type LiveOptions = Partial<Readonly<typeof LIVE_LIMITS>>

/** What all live connections share: WebSockets and streams of events. */
export interface LiveParts extends Readonly<typeof LIVE_LIMITS> {
  /** The open connections, and the calls that wait. */
  readonly connections: ConnectionLimiter
  readonly reads: EventReadLimiter
  readonly clock: Clock
  readonly onError: (thrown: unknown) => void
}
