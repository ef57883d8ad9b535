import type { Clock } from '../../time/index.ts'
import type { Authenticator, Caller } from '../auth/index.ts'
import { ConnectionLimiter, EventReadLimiter, type LiveConnection } from '../limits/index.ts'

const MIB = 1_048_576
const DEFAULTS = {
  /** WebSockets and streams together. */
  connectionsMax: 1_000,
  messageBytesMax: MIB,
  messagesPerSecond: 50,
  bufferBytesMax: MIB,
  heartbeatMs: 30_000,
  /** How long a reader may accept nothing before it is disconnected. It can resume. */
  stallMs: 30_000,
}

/** What bounds live connections: the settings `ws…`. */
export type LiveOptions = Partial<Readonly<typeof DEFAULTS>>

/** What all live connections share: WebSockets and streams of events. */
export interface LiveParts extends Readonly<typeof DEFAULTS> {
  /** The open connections, and the calls that wait. */
  readonly connections: ConnectionLimiter
  readonly reads: EventReadLimiter
  readonly clock: Clock
  readonly onError: (thrown: unknown) => void
}

/** What live connections need from the server. */
interface LiveContext extends Pick<LiveParts, 'clock' | 'onError'> {
  readonly authenticator: Authenticator
  /** Called when a connection opens; the function it returns is called when it ends. */
  readonly connected: (kind: LiveConnection['kind']) => () => void
}

/** What live connections share, with their bounds. */
export function liveParts(
  { authenticator, connected, clock, onError }: LiveContext,
  options: LiveOptions = {},
): LiveParts {
  const bounds = { ...DEFAULTS, ...options }
  const isValid = (caller: Caller) => authenticator.isValid(caller)
  const connections = new ConnectionLimiter(isValid, clock, bounds.connectionsMax, connected)
  return { ...bounds, connections, reads: new EventReadLimiter(), clock, onError }
}
