import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import { type Caller, ownerName } from '../auth/index.ts'

/** With the age of a cached key (half a second), this stays below the promised second. */
const CHECK_EACH_MS = 250
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

/** The long-lived connections: a bounded number, each for as long as its key is valid. */
export class ConnectionLimiter {
  readonly #isValid: (caller: Caller) => Promise<boolean>
  readonly #clock: Clock
  readonly #connectionsMax: number
  readonly #connected: (kind: LiveConnection['kind']) => () => void
  readonly #open = new Map<LiveConnection, () => void>()
  readonly #perTenant = new Counts()
  readonly #waiting = new Set<WaitingCall>()
  readonly #waitingPerOwner = new Counts()
  /** Subscriptions beyond the first of each connection. */
  #moreReaders = 0
  #isClosing = false
  #cancelCheck: (() => void) | null = null

  /** `isValid` tells whether a caller's key still is. `connected` is called when a connection opens; the function it returns is called when it ends. */
  constructor(
    isValid: (caller: Caller) => Promise<boolean>,
    clock: Clock,
    connectionsMax: number,
    connected: (kind: LiveConnection['kind']) => () => void,
  ) {
    this.#isValid = isValid
    this.#clock = clock
    this.#connectionsMax = connectionsMax
    this.#connected = connected
  }

  /** Throws if no more connections are allowed, or no more of this caller's tenant. */
  assertCapacity(caller?: Caller): void {
    const connectionsMax = this.#connectionsMax
    if (this.#isClosing) throw new WakefulError('server.closing', {}, { retryAfterMs: FULL_RETRY_MS })
    if (this.#open.size + this.#moreReaders >= connectionsMax)
      throw new WakefulError('limit.connections', { max: connectionsMax }, { retryAfterMs: FULL_RETRY_MS })
    // Without keys there are no other tenants to protect.
    if (caller === undefined || caller.keyId === null) return
    const share = Math.ceil(connectionsMax / 2)
    if (this.#perTenant.of(caller.tenant) >= share)
      throw new WakefulError('limit.tenant_connections', { max: share }, { retryAfterMs: FULL_RETRY_MS })
  }

  /** Adds a connection; the function returned removes it. */
  add(connection: LiveConnection): () => void {
    this.assertCapacity(connection.caller)
    this.#open.set(connection, this.#connected(connection.kind))
    this.#perTenant.add(connection.caller.tenant)
    this.#cancelCheck ??= this.#nextCheck()
    return () => this.#remove(connection)
  }

  /** Adds another subscription of a connection, which counts as a connection; the function returned removes it. */
  addReader(caller: Caller): () => void {
    this.assertCapacity(caller)
    this.#moreReaders += 1
    this.#perTenant.add(caller.tenant)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#moreReaders -= 1
      this.#perTenant.remove(caller.tenant)
    }
  }

  /** Adds a waiting call. It is ended like a connection, but has its own limit per owner. The function returned removes it. */
  addWaiting(call: WaitingCall): () => void {
    const owner = ownerName(call.caller)
    if (this.#waitingPerOwner.of(owner) >= WAITING_MAX)
      throw new WakefulError('limit.waiting_calls', { max: WAITING_MAX }, { retryAfterMs: WAITING_RETRY_MS })
    if (this.#isClosing) call.end('closing')
    this.#waiting.add(call)
    this.#waitingPerOwner.add(owner)
    this.#cancelCheck ??= this.#nextCheck()
    return () => {
      this.#waiting.delete(call)
      this.#waitingPerOwner.remove(owner)
      this.#stopChecking()
    }
  }

  /** Ends all of them, and accepts no more. */
  close(): void {
    this.#isClosing = true
    for (const each of this.#all()) each.end('closing')
  }

  #remove(connection: LiveConnection): void {
    const disconnected = this.#open.get(connection)
    if (disconnected === undefined) return
    this.#open.delete(connection)
    this.#perTenant.remove(connection.caller.tenant)
    disconnected()
    this.#stopChecking()
  }

  #all(): WaitingCall[] {
    return [...this.#open.keys(), ...this.#waiting]
  }

  #stopChecking(): void {
    if (this.#open.size + this.#waiting.size > 0) return
    this.#cancelCheck?.()
    this.#cancelCheck = null
  }

  #nextCheck(): () => void {
    return this.#clock.setTimer(CHECK_EACH_MS, () => void this.#check())
  }

  async #check(): Promise<void> {
    const validity = new Map<string, Promise<boolean>>()
    await Promise.all(
      this.#all().map(async (each) => {
        const { keyId, keyHash } = each.caller
        const name = `${keyId}.${keyHash}`
        let isValid = validity.get(name)
        if (isValid === undefined) {
          // If the store does not answer, nothing is known against the key: it is checked again.
          isValid = this.#isValid(each.caller).catch(() => true)
          validity.set(name, isValid)
        }
        if (!(await isValid)) each.end('revoked')
      }),
    )
    if (this.#open.size + this.#waiting.size > 0) this.#cancelCheck = this.#nextCheck()
    else this.#cancelCheck = null
  }
}

/** How many there are by name. A name with none is not kept. */
class Counts {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1)
  }

  remove(name: string): void {
    const left = this.of(name) - 1
    if (left > 0) this.#counts.set(name, left)
    else this.#counts.delete(name)
  }
}
