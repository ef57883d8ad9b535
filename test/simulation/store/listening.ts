import {
  DatabaseClock,
  type HeartbeatRequest,
  type HeartbeatResult,
  type ListenCallbacks,
  type ListenConnection,
  type ListenStatements,
  type Timers,
} from '../../../src/stores/sharded/index.ts'
import type { Clock } from '../../../src/time/index.ts'
import { type Connection, isBroken } from './connection.ts'
import { heartbeat } from './leases.ts'
import { LinkLost } from './wire.ts'

const LOG_RETRY_MS = 200

/** LISTEN and the heartbeat, in memory. */
export class SimulatedListening implements ListenStatements {
  readonly canListen = true
  readonly isBroken = isBroken
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  listenConnection(callbacks: ListenCallbacks): ListenConnection {
    return new SimulatedListenConnection(this.#connection, callbacks)
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return heartbeat(this.#connection, request)
  }
}

/** Notices travel over the wire like statements. If one is lost, the connection is lost. */
class SimulatedListenConnection implements ListenConnection {
  readonly #connection: Connection
  readonly #callbacks: ListenCallbacks

  constructor(connection: Connection, callbacks: ListenCallbacks) {
    this.#connection = connection
    this.#callbacks = callbacks
  }

  listen(): Promise<void> {
    const { database, process } = this.#connection
    return this.#connection.send('listen', () => database.listen(process, this.#receive))
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return heartbeat(this.#connection, request, () => this.#assertListening())
  }

  async close(): Promise<void> {
    this.drop()
  }

  drop(): void {
    this.#connection.database.unlisten(this.#connection.process, this.#receive)
  }

  readonly #receive = (text: string): void => void this.#carry(text)

  async #carry(text: string): Promise<void> {
    try {
      await this.#connection.send('notice', () => this.#assertListening())
      this.#callbacks.onNotice(text)
    } catch {
      this.#callbacks.onLost()
    }
  }

  /** The answer of a server that has closed the connection. */
  #assertListening(): void {
    const { database, process } = this.#connection
    if (!database.isListening(process, this.#receive)) throw new LinkLost('the server closed the connection')
  }
}

/** Polls whether the log has grown and calls back. A failed poll is repeated. */
export function watchLog(connection: Connection, timers: Timers, onGrown: () => void): () => void {
  const { database } = connection
  let isWatching = true
  let isPolling = false
  let hasGrown = false
  const poll = async (): Promise<void> => {
    hasGrown = true
    if (isPolling || !isWatching) return
    isPolling = true
    try {
      hasGrown = false
      await connection.send('log.poll', () => {})
      if (isWatching) onGrown()
    } catch {
      hasGrown = true
      await new Promise<void>((resolve) => void timers.later(LOG_RETRY_MS, resolve))
    } finally {
      isPolling = false
    }
    if (hasGrown && !connection.isClosed) void poll()
  }
  const stop = database.onLogGrown(() => void poll())
  return () => {
    isWatching = false
    stop()
  }
}

/**
 * The database's clock as a process knows it, with a callback for every new sample. Sleeping processes need not poll it
 * every second, so days of virtual time pass in a few steps.
 */
export class SteppingClock extends DatabaseClock {
  readonly #listeners = new Set<() => void>()

  onStep(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  override sample(databaseNow: number, sentAt: number, answeredAt: number): void {
    const before = this.nowAt(answeredAt)
    super.sample(databaseNow, sentAt, answeredAt)
    if (this.nowAt(answeredAt) !== before) for (const listener of [...this.#listeners]) listener()
  }
}

/** The timers of a simulated process, by its clock. */
export function timersOf(clock: Clock): Timers {
  return {
    soon: (call) => void clock.turn().then(call),
    later: (ms, call) => clock.setTimer(ms, call),
    every(ms, call) {
      let cancel = () => {}
      const again = () => {
        cancel = clock.setTimer(ms, () => {
          again()
          call()
        })
      }
      again()
      return () => cancel()
    },
  }
}
