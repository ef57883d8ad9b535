import type { Store } from '../../src/stores/index.ts'
import type { Clock } from '../../src/time/index.ts'
import type { LogRecord } from '../judge/evidence.ts'
import type { Scope } from './alarm-plan.ts'
import type { SimulatedProcess } from './process.ts'

/** One process's store, with the clock by which its alarms fire. */
export interface Connected {
  readonly store: Store
  readonly clock: Clock
}

/** The shared store of a world, with inspection methods for the test. */
export interface Backend {
  /** Opens the store for a booting process. */
  connect(process: SimulatedProcess): Promise<Connected>
  /** Rolls back the open transactions of a process that died or lost its connections. */
  cutOff(process: SimulatedProcess): void
  /** Fills the disk, so that every write fails and calls `onRefused`. Returns how to free it again. */
  fillDisk?(onRefused: () => void): () => void
  /** Opens a user's transaction that locks a shard, as an edit near the due instant does. Returns how to end it. */
  lockShard?(n: number): () => void
  /** Restarts the store. Uncommitted changes are lost. */
  crash?(): void
  /** The current lease holder of this alarm's shard. */
  ownerOf(alarmId: string): string | null
  /** How many timers are recorded as being delivered by this process. */
  inFlight(process: string): number
  /** The newest position in the log. */
  logEnd(): number
  /** The log's records about occurrences, oldest first. */
  records(): LogRecord[]
  /** The positions of an owner's records written by this time, ascending. */
  logPositionsOf(scope: Scope, until: number): number[]
  /** The occurrences whose transactional handlers set a follow-up alarm, read from its label. */
  effects(): string[]
  /** Timers due before this time whose alarm has had no event since, and which the lease holder is not delivering. */
  overdue(before: number): string[]
}

/** The label prefix of alarms set by transactional handlers. */
export const EFFECT = 'effect '
