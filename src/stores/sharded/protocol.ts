import type { Clock } from '../../time/index.ts'
import type { ChangeKind, Claimed, ClaimRequest, InFlightTimers, Lease } from '../index.ts'
import { type ClaimStatements, Claims } from './claims.ts'
import type { HeartbeatResult } from './heartbeat.ts'
import { Listener, type ListenStatements } from './listener.ts'
import { NextWakeCache, RECENT_MS } from './next-wake-cache.ts'
import { Notifier, parseNotice, wakeNotice } from './notices.ts'
import { type LeaseStatements, ShardLeases } from './shard-leases.ts'

/** How a store waits. A simulation passes its own. */
export interface Timers {
  /** Calls back at the end of this turn of the event loop. */
  soon(call: () => void): void
  /** Calls back after this many milliseconds, unless the returned function is called first. */
  later(ms: number, call: () => void): () => void
  /** Calls back every this many milliseconds, until the returned function is called. */
  every(ms: number, call: () => void): () => void
}

/** Node's timers. */
export const realTimers: Timers = {
  soon: (call) => void setImmediate(call),
  later(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  every(ms, call) {
    const timer = setInterval(call, ms)
    return () => clearInterval(timer)
  },
}

/** Waits this many milliseconds without blocking other work. */
export function wait(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.later(ms, resolve))
}

/** The options of a process. */
export interface ShardedOptions {
  /** The host's clock, for waiting and for the time between two readings of the database's clock. */
  readonly clock: Clock
  /** Whether the host's clock is the authority instead of the database's: for tests in virtual time. */
  readonly clockIsAuthority?: boolean
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  readonly timers?: Timers
}

/** What the protocol needs from its store: the statements and the callbacks. */
export interface ShardedPorts {
  readonly leases: LeaseStatements
  readonly claims: ClaimStatements
  readonly listening: ListenStatements
  /** The database's clock, in milliseconds with a fraction. */
  readonly readClock: () => Promise<number>
  /** Calls back when the log has grown, until the returned function is called. */
  readonly watchLog: (onGrown: () => void) => () => void
  /** The sender of this process's notices: a unique name. */
  readonly sender: string
  readonly onCalendarsChanged: () => void
  /** Makes the clock that is measured against the database's; for tests. */
  readonly makeClock?: (host: Clock, resample: () => void, staleMs: number) => DatabaseClock
}

const LEASE_MS = 5_000
const HEARTBEAT_MS = 2_000
/** Wakes within a heartbeat and this margin are notified at once: the heartbeat that would find them may be late. */
const NOTICE_MARGIN_MS = 1_000
const CLOCK_SAMPLES = 3
/** Heartbeats measure the clock too: it is stale when one has not been answered for a while. */
const STALE_MS_MIN = 5_000
const STALE_HEARTBEATS = 1.25
/** A lease ends this much before the database ends it, so that deliveries stop before another process takes over. */
const TAKEOVER_MS = 200

/** One process's part in sharing the shards of a database. */
export class ShardedProtocol {
  readonly leaseMs: number
  readonly heartbeatMs: number
  /** The time by which alarms fire: the database's, as measured by this process. */
  readonly clock: Clock
  /** What is known about the next wakes. */
  readonly nextWakes = new NextWakeCache()
  readonly leases: ShardLeases
  readonly claims: Claims
  readonly #ports: ShardedPorts
  readonly #host: Clock
  readonly #databaseClock: DatabaseClock | null
  readonly #notifier: Notifier
  readonly #listener: Listener
  #sampling: Promise<void> | null = null

  constructor(options: ShardedOptions, ports: ShardedPorts) {
    const { clock: host, timers = realTimers } = options
    this.leaseMs = options.leaseMs ?? LEASE_MS
    this.heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
    this.#ports = ports
    this.#host = host
    const resample = () => void this.sampleClock().catch(() => {})
    const staleMs = Math.max(STALE_MS_MIN, STALE_HEARTBEATS * this.heartbeatMs)
    const makeClock = ports.makeClock ?? ((...made) => new DatabaseClock(...made))
    this.#databaseClock = options.clockIsAuthority === true ? null : makeClock(host, resample, staleMs)
    this.clock = this.#databaseClock ?? host
    this.#notifier = new Notifier(timers, ports.watchLog)
    this.#listener = new Listener({
      timers,
      statements: ports.listening,
      onNotice: (text) => this.#receive(text),
      onListening: () => this.#catchUp(),
    })
    this.leases = new ShardLeases({
      clock: host,
      leaseMs: Math.max(this.leaseMs / 2, this.leaseMs - TAKEOVER_MS),
      statements: ports.leases,
      sendHeartbeat: (request) => this.#listener.heartbeat(request),
      nextWakes: this.nextWakes,
      onHeartbeat: (...heartbeat) => this.#noteHeartbeat(...heartbeat),
      requestHeartbeat: (inMs) => this.#notifier.notifyShardsIn(inMs),
    })
    this.claims = new Claims(ports.claims, host, this.nextWakes)
  }

  /** The time to bind where the database's clock is not the authority; else null. */
  get clockOverride(): number | null {
    return this.#databaseClock === null ? this.#host.now() : null
  }

  /** Measures the clock, before anything else. */
  async open(): Promise<void> {
    for (let i = 0; i < CLOCK_SAMPLES; i++) await this.sampleClock()
  }

  async claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    const claiming = leases.filter((lease) => !this.leases.isDraining(lease))
    const claimed = await this.claims.claim(claiming, request, this.#listener.isListening)
    // The clock's error grows by half a millisecond per second: while alarms fire, it is measured more often.
    if (claimed.timers.length > 0) this.#databaseClock?.refresh()
    return claimed
  }

  nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers): Promise<number | null> {
    return this.claims.nextWakeAt(leases, inFlight, this.clock.now())
  }

  /** Calls back on what other processes do, until the returned function is called. */
  onChange(listener: (change: ChangeKind) => void, about: 'clock' | 'log'): () => void {
    this.#listener.start()
    return this.#notifier.add(listener, about)
  }

  /**
   * The notice to send with the commit of these wakes, if any: of the earliest one before the next heartbeat of the
   * other processes, in shards that this process does not own. A user's transaction commits later, and then this
   * process must be notified too.
   */
  noticeFor(wakes: ReadonlyMap<number, number>, isUserTransaction: boolean): string | null {
    const soon = this.clock.now() + this.heartbeatMs + NOTICE_MARGIN_MS
    const notified = [...wakes].filter(
      ([shard, wakeAt]) => wakeAt < soon && (isUserTransaction || !this.leases.holds(shard)),
    )
    if (notified.length === 0) return null
    const earliest = Math.min(...notified.map(([, wakeAt]) => wakeAt))
    return wakeNotice(earliest, isUserTransaction ? '' : this.#ports.sender)
  }

  /** Notes what this process has written, or may have. */
  noteWakes(wakes: ReadonlyMap<number, number>): void {
    for (const [shard, wakeAt] of wakes) this.nextWakes.noteWake(shard, wakeAt)
  }

  /** Ends all waits; waits for `settled` before it closes the listening connection. */
  async close(settled: () => Promise<void> = async () => {}): Promise<void> {
    this.#notifier.close()
    await settled()
    await this.#listener.close()
  }

  /** Measures the database's clock. */
  sampleClock(): Promise<void> {
    const clock = this.#databaseClock
    if (clock === null) return Promise.resolve()
    this.#sampling ??= (async () => {
      try {
        const sentAt = this.#host.monotonic()
        const now = await this.#ports.readClock()
        clock.sample(now, sentAt, this.#host.monotonic())
      } finally {
        this.#sampling = null
      }
    })()
    return this.#sampling
  }

  #noteHeartbeat(result: HeartbeatResult, sentAt: number, answeredAt: number): void {
    this.#databaseClock?.sample(result.now, sentAt, answeredAt)
    if (this.nextWakes.noteHeartbeat(result.nextWakes)) this.#notifier.notify('timers')
  }

  #receive(text: string): void {
    const notice = parseNotice(text)
    if (notice === 'shards') this.#notifier.notify('shards')
    else if (notice === 'calendars') this.#ports.onCalendarsChanged()
    else if (notice !== null && notice.sender !== this.#ports.sender) {
      this.nextWakes.noteWake(null, notice.wakeAt)
      this.#notifier.notify('timers')
    }
  }

  /**
   * Notices that were sent while this process did not listen are lost. The cache is not cleared completely: on an
   * overloaded server, where slow connections are dropped, a full scan would follow each one.
   */
  #catchUp(): void {
    this.nextWakes.noteWake(null, this.clock.now() - RECENT_MS)
    this.#notifier.notify('timers')
    this.#notifier.notify('shards')
    this.#ports.onCalendarsChanged()
  }
}

/** The most that two clocks drift apart: both may be slewed by 500 ppm. */
const DRIFT = 0.0005
/** While alarms fire, a new sample is requested after this long without one. */
const FRESH_MS = 500

/**
 * The database's clock, computed from the monotonic clock by an offset that every heartbeat measures. It uses the
 * early end of the measured interval, so that this process is never ahead of the database (promise: never-early). The
 * middle of the round trip was off by 2.7 ms.
 */
export class DatabaseClock implements Clock {
  readonly #host: Clock
  readonly #resample: () => void
  readonly #staleMs: number
  #offset = Number.NEGATIVE_INFINITY
  #sampledAt = Number.NEGATIVE_INFINITY

  /** `resample` is called when the time is read and the last sample is older than `staleMs`. */
  constructor(host: Clock, resample: () => void, staleMs: number) {
    this.#host = host
    this.#resample = resample
    this.#staleMs = staleMs
  }

  now(): number {
    const at = this.#host.monotonic()
    if (at - this.#sampledAt > this.#staleMs) this.#resample()
    return this.nowAt(at)
  }

  /** The time at a moment of the monotonic clock. */
  nowAt(at: number): number {
    return Math.floor(at + this.#offsetAt(at))
  }

  /** Requests a sample if the last one is old. */
  refresh(): void {
    if (this.#host.monotonic() - this.#sampledAt > FRESH_MS) this.#resample()
  }

  monotonic(): number {
    return this.#host.monotonic()
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    return this.#host.setTimer(delayMs, fire)
  }

  turn(): Promise<void> {
    return this.#host.turn()
  }

  /** How far the host's clock is ahead of the database's. It affects no alarm, but is reported. */
  get skewMs(): number {
    return this.#host.now() - this.now()
  }

  /** Adds a sample: what the database's clock read between two moments of the monotonic clock. */
  sample(databaseNow: number, sentAt: number, answeredAt: number): void {
    const low = databaseNow - answeredAt
    const high = databaseNow + 1 - sentAt
    const known = this.#offsetAt(answeredAt)
    // Below what was certain: the database's clock was set back, or this is another server.
    this.#offset = high < known ? low : Math.max(known, low)
    this.#sampledAt = answeredAt
  }

  /** The bounds of the offset widen with time by the possible drift. */
  #offsetAt(at: number): number {
    return this.#offset - Math.max(0, at - this.#sampledAt) * DRIFT
  }
}
