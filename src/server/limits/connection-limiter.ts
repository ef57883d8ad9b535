import type { Clock } from '../../time/index.ts'
import { type Caller, type KeyRegistry, ownerName } from '../auth/index.ts'
import { TryLater } from '../http/index.ts'
import { Counts } from './counts.ts'

/** Together with the age of a key's copy (half a second) this stays below the second that is promised. */
const CHECK_EACH_MS = 250
const FULL_RETRY_MS = 5_000
/** Who waits is looked after and looks now and then itself: one owner cannot make that everybody's burden. */
const WAITING_MAX = 100
const WAITING_RETRY_MS = 1_000

/** Why a connection is ended from here. */
export type EndReason = 'revoked' | 'closing'

/** Somebody who stays connected. */
export interface LiveConnection {
  readonly kind: 'ws' | 'sse'
  readonly caller: Caller
  end(why: EndReason): void
}

/** Somebody who waits for an answer for a while, and is to wait no longer than its key holds. */
export type WaitingCall = Pick<LiveConnection, 'caller' | 'end'>

/** What the open connections are kept by. */
export interface ConnectionLimiterOptions {
  readonly keys: KeyRegistry
  readonly clock: Clock
  readonly connectionsMax: number
  /** Told of each that opens; what it answers is called when it ends. */
  readonly connected?: ((kind: LiveConnection['kind']) => () => void) | undefined
}

/** The connections that stay: so many at most, each as long as its key holds. */
export class ConnectionLimiter {
  readonly #parts: ConnectionLimiterOptions
  readonly #open = new Map<LiveConnection, () => void>()
  readonly #ofTenant = new Counts()
  readonly #waiting = new Set<WaitingCall>()
  readonly #ofOwner = new Counts()
  /** Those beyond the first of each connection. */
  #moreReaders = 0
  #isClosing = false
  #cancelCheck: (() => void) | null = null

  constructor(parts: ConnectionLimiterOptions) {
    this.#parts = parts
  }

  get count(): number {
    return this.#open.size
  }

  /** Refuses where there is no room for another, or none for another of this caller's tenant. */
  assertRoom(caller?: Caller): void {
    const { connectionsMax } = this.#parts
    if (this.#isClosing) throw new TryLater('store_unavailable', 'this server is closing', FULL_RETRY_MS)
    if (this.#open.size + this.#moreReaders >= connectionsMax)
      throw new TryLater(
        'rate_limited',
        `all ${connectionsMax} live connections of this server are in use`,
        FULL_RETRY_MS,
      )
    // Where there are no keys there are no others who would be kept out.
    if (caller === undefined || caller.keyId === null) return
    const share = Math.ceil(connectionsMax / 2)
    if (this.#ofTenant.of(caller.tenant) >= share)
      throw new TryLater(
        'rate_limited',
        `your tenant has ${share} live connections already, half of what this server has room for`,
        FULL_RETRY_MS,
      )
  }

  /** Takes a connection in; it leaves by the answer. */
  enter(line: LiveConnection): () => void {
    this.assertRoom(line.caller)
    const gone = this.#parts.connected?.(line.kind) ?? (() => {})
    this.#open.set(line, gone)
    this.#ofTenant.add(line.caller.tenant)
    this.#cancelCheck ??= this.#nextCheck()
    return () => this.#leave(line)
  }

  /** Takes in another reader on a connection, as if it were one of its own; it leaves by the answer. */
  addReader(caller: Caller): () => void {
    this.assertRoom(caller)
    this.#moreReaders += 1
    this.#ofTenant.add(caller.tenant)
    let isHere = true
    return () => {
      if (!isHere) return
      isHere = false
      this.#moreReaders -= 1
      this.#ofTenant.remove(caller.tenant)
    }
  }

  /** One who waits is ended as connections are, but needs no room among them: an owner may wait so often. It leaves by the answer. */
  attend(waiting: WaitingCall): () => void {
    const owner = ownerName(waiting.caller)
    if (this.#ofOwner.of(owner) >= WAITING_MAX)
      throw new TryLater(
        'rate_limited',
        `${WAITING_MAX} calls of yours wait for wakes already`,
        WAITING_RETRY_MS,
      )
    if (this.#isClosing) waiting.end('closing')
    this.#waiting.add(waiting)
    this.#ofOwner.add(owner)
    this.#cancelCheck ??= this.#nextCheck()
    return () => {
      this.#waiting.delete(waiting)
      this.#ofOwner.remove(owner)
      this.#rest()
    }
  }

  /** Ends all of them, and takes in no more. */
  close(): void {
    this.#isClosing = true
    for (const each of this.#all()) each.end('closing')
  }

  #leave(line: LiveConnection): void {
    const gone = this.#open.get(line)
    // Who leaves twice was there once.
    if (gone === undefined) return
    this.#open.delete(line)
    this.#ofTenant.remove(line.caller.tenant)
    gone()
    this.#rest()
  }

  #all(): WaitingCall[] {
    return [...this.#open.keys(), ...this.#waiting]
  }

  /** Nobody is left to be looked after. */
  #rest(): void {
    if (this.#open.size + this.#waiting.size > 0) return
    this.#cancelCheck?.()
    this.#cancelCheck = null
  }

  #nextCheck(): () => void {
    return this.#parts.clock.setTimer(CHECK_EACH_MS, () => void this.#check())
  }

  async #check(): Promise<void> {
    const held = new Map<string, Promise<boolean>>()
    await Promise.all(
      this.#all().map(async (line) => {
        const { keyId, keyHash } = line.caller
        const name = `${keyId}.${keyHash}`
        let holds = held.get(name)
        if (holds === undefined) {
          // A store that does not answer says nothing against anybody: it is asked again.
          holds = this.#holds(line.caller).catch(() => true)
          held.set(name, holds)
        }
        if (!(await holds)) line.end('revoked')
      }),
    )
    if (this.#open.size + this.#waiting.size > 0) this.#cancelCheck = this.#nextCheck()
    else this.#cancelCheck = null
  }

  async #holds({ keyId, keyHash }: Caller): Promise<boolean> {
    const { keys } = this.#parts
    // Those without a key were let in while there were none.
    if (keyId === null || keyHash === null) return !(await keys.hasKeys())
    return keys.holds(keyId, keyHash)
  }
}
