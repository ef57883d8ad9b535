import type { Context } from '../../alarm/index.ts'
import type { Clock } from '../../time/index.ts'
import type { ChangeKind, Claimed, ClaimRequest, InFlightTimers, Lease } from '../index.ts'
import type { ShardedProtocol } from './protocol.ts'

/** The calls of a store that its protocol answers: the same in PostgreSQL's store and in the simulated one. */
export abstract class ShardedStore {
  protected abstract readonly protocol: ShardedProtocol
  /** Runs a call; refuses it if the store is closed, and turns the database's errors into ours. */
  protected abstract guard<T>(call: () => Promise<T>): Promise<T>
  protected abstract assertOpen(): void
  abstract readCalendars(): Promise<void>

  get leaseMs(): number {
    return this.protocol.leaseMs
  }

  get heartbeatMs(): number {
    return this.protocol.heartbeatMs
  }

  /** The time by which alarms fire: the database's, as measured by this process. */
  get clock(): Clock {
    return this.protocol.clock
  }

  /** Measures the clock and reads the calendars, before anything else. */
  async open(): Promise<this> {
    await this.protocol.open()
    await this.readCalendars()
    return this
  }

  heartbeat(process: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.guard(() => this.protocol.leases.heartbeat(process, pools, context))
  }

  releaseLeases(leases: readonly Lease[]): Promise<void> {
    return this.guard(() => this.protocol.leases.release(leases))
  }

  leave(process: string): Promise<void> {
    return this.guard(() => this.protocol.leases.leave(process))
  }

  claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    return this.guard(() => this.protocol.claim(leases, request))
  }

  nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers): Promise<number | null> {
    return this.guard(() => this.protocol.nextWakeAt(leases, inFlight))
  }

  onChange(listener: (change: ChangeKind) => void, about: 'clock' | 'log' = 'clock'): () => void {
    this.assertOpen()
    return this.protocol.onChange(listener, about)
  }

  /** Decisions compare the versions of calendars, so a late read here only makes a preview old. */
  protected rereadCalendars(): void {
    void this.readCalendars().catch(() => {})
  }
}
