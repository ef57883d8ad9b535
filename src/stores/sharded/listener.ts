import type { HeartbeatRequest, HeartbeatResult } from './heartbeat.ts'
import type { Timers } from './protocol.ts'

/** A connection on which notices arrive. */
export interface ListenConnection {
  /** Connects, and begins to listen. */
  listen(): Promise<void>
  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult>
  /** Closes it cleanly. */
  close(): Promise<void>
  /** Drops it at once: on a half-open connection, a clean close may take minutes. */
  drop(): void
}

/** The callbacks of a listening connection. */
export interface ListenCallbacks {
  readonly onNotice: (text: string) => void
  readonly onLost: () => void
}

/** The statements of listening. */
export interface ListenStatements {
  /** Whether notices can arrive at all: behind a pooler they cannot. */
  readonly canListen: boolean
  /** A new connection that does not listen yet. */
  listenConnection(callbacks: ListenCallbacks): ListenConnection
  /** Sends a heartbeat on another connection. */
  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult>
  isBroken(thrown: unknown): boolean
}

/** What a listener needs. */
export interface ListenerPorts {
  readonly timers: Timers
  readonly statements: ListenStatements
  readonly onNotice: (text: string) => void
  /** Called whenever it begins to listen: earlier notices did not arrive. */
  readonly onListening: () => void
}

const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 2_000

/**
 * Keeps one connection that listens, and sends the heartbeat on it, so that a broken or half-open connection is
 * detected by the next heartbeat. It reconnects by itself.
 */
export class Listener {
  readonly #ports: ListenerPorts
  #connection: ListenConnection | null = null
  #isListening = false
  #cancelRetry = () => {}
  #retryMs = RETRY_MS_MIN
  #isStarted = false
  #connecting: Promise<void> = Promise.resolve()

  constructor(ports: ListenerPorts) {
    this.#ports = ports
  }

  /** Whether notices arrive, as far as this process knows. */
  get isListening(): boolean {
    return this.#isListening
  }

  start(): void {
    if (this.#isStarted || !this.#ports.statements.canListen) return
    this.#isStarted = true
    this.#connecting = this.#connect()
  }

  /** Sends the heartbeat on the listening connection, or on another one if that is broken or missing. */
  async heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    const { statements } = this.#ports
    const connection = this.#connection
    if (connection === null || !this.#isListening) return statements.heartbeat(request)
    try {
      return await connection.heartbeat(request)
    } catch (thrown) {
      if (!statements.isBroken(thrown)) throw thrown
      this.#drop(connection)
      return statements.heartbeat(request)
    }
  }

  async close(): Promise<void> {
    this.#isStarted = false
    this.#cancelRetry()
    await this.#connecting
    const connection = this.#connection
    this.#connection = null
    this.#isListening = false
    await connection?.close()
  }

  async #connect(): Promise<void> {
    const { statements, onNotice, onListening } = this.#ports
    const connection: ListenConnection = statements.listenConnection({
      onNotice,
      onLost: () => this.#drop(connection),
    })
    this.#connection = connection
    try {
      await connection.listen()
    } catch {
      // Calls that need the database report the error; this only retries.
      this.#drop(connection)
      return
    }
    if (this.#connection !== connection) return
    this.#retryMs = RETRY_MS_MIN
    this.#isListening = true
    onListening()
  }

  #drop(connection: ListenConnection): void {
    if (this.#connection !== connection) return
    this.#connection = null
    this.#isListening = false
    connection.drop()
    if (!this.#isStarted) return
    this.#cancelRetry = this.#ports.timers.later(this.#retryMs, () => {
      this.#connecting = this.#connect()
    })
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX)
  }
}
