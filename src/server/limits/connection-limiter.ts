import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import { type Authenticator, type Caller, ownerName } from '../auth/index.ts'

/** With the age of a cached key (half a second), this stays below the promised second. */
const CHECK_INTERVAL_MS = 250
const FULL_RETRY_MS = 5_000
/** Waiting calls of one owner. Each is checked again and again, so one owner must not have any number of them. */
const WAITING_MAX = 100
const WAITING_RETRY_MS = 1_000

/** Why the server ends a connection. */
export type EndReason = 'revoked' | 'closing'

/** A WebSocket or a stream of events. */
export interface LiveConnection {
  readonly kind: 'ws' | 'sse'
  readonly caller: Caller
  end(reason: EndReason): void
}

/** A call that waits for something to happen, no longer than its key is valid. */
export type WaitingCall = Pick<LiveConnection, 'caller' | 'end'>

interface ConnectionCount {
  /** Counts a connection until the function returned is called. */
  connected(kind: LiveConnection['kind']): () => void
}

/** The long-lived connections: a bounded number, each for as long as its key is valid. */
export class ConnectionLimiter {
  readonly #authenticator: Pick<Authenticator, 'isValid'>
  readonly #clock: Clock
  readonly #connectionsMax: number
  readonly #metrics: ConnectionCount
  readonly #watched = new Set<WaitingCall>()
  /** By tenant: connections, and subscriptions beyond the first of each. */
  readonly #readers = new Counts()
  /** By owner. */
  readonly #waiting = new Counts()
  #isClosing = false
  #cancelCheck: (() => void) | null = null

  constructor(
    authenticator: Pick<Authenticator, 'isValid'>,
    clock: Clock,
    connectionsMax: number,
    metrics: ConnectionCount,
  ) {
    this.#authenticator = authenticator
    this.#clock = clock
    this.#connectionsMax = connectionsMax
    this.#metrics = metrics
  }

  /** Throws if no more connections are allowed, or no more of this caller's tenant. */
  assertCapacity(caller?: Caller): void {
    const connectionsMax = this.#connectionsMax
    if (this.#isClosing) throw new WakefulError('server.closing', {}, { retryAfterMs: FULL_RETRY_MS })
    if (this.#readers.total >= connectionsMax)
      throw new WakefulError('limit.connections', { max: connectionsMax }, { retryAfterMs: FULL_RETRY_MS })
    // Without keys there are no other tenants to protect.
    if (caller === undefined || caller.keyId === null) return
    const share = Math.ceil(connectionsMax / 2)
    if (this.#readers.of(caller.tenant) >= share)
      throw new WakefulError('limit.tenant_connections', { max: share }, { retryAfterMs: FULL_RETRY_MS })
  }

  /** Adds a connection; the function returned removes it. */
  add(connection: LiveConnection): () => void {
    const removeReader = this.addReader(connection.caller)
    const disconnected = this.#metrics.connected(connection.kind)
    return this.#watch(connection, () => {
      removeReader()
      disconnected()
    })
  }

  /** Adds another subscription of a connection, which counts as a connection; the function returned removes it. */
  addReader(caller: Caller): () => void {
    this.assertCapacity(caller)
    return this.#readers.add(caller.tenant)
  }

  /** Adds a waiting call. It is ended like a connection, but has its own limit per owner. The function returned removes it. */
  addWaiting(call: WaitingCall): () => void {
    const owner = ownerName(call.caller)
    if (this.#waiting.of(owner) >= WAITING_MAX)
      throw new WakefulError('limit.waiting_calls', { max: WAITING_MAX }, { retryAfterMs: WAITING_RETRY_MS })
    if (this.#isClosing) call.end('closing')
    return this.#watch(call, this.#waiting.add(owner))
  }

  /** Ends all of them, and accepts no more. */
  close(): void {
    this.#isClosing = true
    for (const each of [...this.#watched]) each.end('closing')
  }

  /** Ends it once its key is no longer valid. The function returned calls `removed`, the first time. */
  #watch(call: WaitingCall, removed: () => void): () => void {
    this.#watched.add(call)
    this.#cancelCheck ??= this.#nextCheck()
    return () => {
      if (!this.#watched.delete(call)) return
      removed()
      if (this.#watched.size > 0) return
      this.#cancelCheck?.()
      this.#cancelCheck = null
    }
  }

  #nextCheck(): () => void {
    return this.#clock.setTimer(CHECK_INTERVAL_MS, () => void this.#check())
  }

  async #check(): Promise<void> {
    const byKey = Map.groupBy(this.#watched, ({ caller: { keyId, keyHash } }) => `${keyId}.${keyHash}`)
    await Promise.all(
      [...byKey.values()].map(async (calls) => {
        // If the store does not answer, nothing is known against the key: it is checked again.
        const isValid = await this.#authenticator.isValid(calls[0]!.caller).catch(() => true)
        if (!isValid) for (const each of calls) each.end('revoked')
      }),
    )
    // Connections may have ended and begun meanwhile: there must not be a second check from then on.
    this.#cancelCheck?.()
    this.#cancelCheck = this.#watched.size > 0 ? this.#nextCheck() : null
  }
}

/** How many there are by name, and in total. A name with none is not kept. */
class Counts {
  readonly #counts = new Map<string, number>()
  total = 0

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** Adds one; the function returned removes it, however often it is called. */
  add(name: string): () => void {
    let isCounted = false
    const change = (by: 1 | -1) => {
      if (isCounted === by > 0) return
      isCounted = by > 0
      this.total += by
      this.#counts.set(name, this.of(name) + by)
      if (this.of(name) === 0) this.#counts.delete(name)
    }
    change(1)
    return () => change(-1)
  }
}
