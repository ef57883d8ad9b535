import type { Store } from '../../src/stores/index.ts'
import type { Clock } from '../../src/time/index.ts'
import type { LogRecord } from '../judge/evidence.ts'
import type { Scope } from './alarm-plan.ts'
import type { SimulatedProcess } from './process.ts'

/** A store as one process has it, with the clock by which its alarms fire. */
export interface Connected {
  readonly store: Store
  readonly clock: Clock
}

/** Where the processes of a world keep their alarms, with what only the world may look at. */
export interface Backend {
  /** Opens the store for a process that boots. */
  connect(process: SimulatedProcess): Promise<Connected>
  /** A process is gone, or its links are: what it had open is rolled back. */
  cutOff(process: SimulatedProcess): void
  /** The disk is full: whatever writes fails, and `onRefused` is told. Answers how to make room again. */
  fillDisk?(onRefused: () => void): () => void
  /** A user's transaction locks one of the shards, as an edit near its instant does. Answers how to end it. */
  lockShard?(n: number): () => void
  /** The store goes down, and comes up as it was: what nobody had committed is gone. */
  crash?(): void
  /** Who owns the clock of this alarm's shard at this very moment. */
  ownerOf(alarmId: string): string | null
  /** How many timers are recorded as being delivered by this process. */
  inFlight(process: string): number
  /** The newest place in the log. */
  logEnd(): number
  /** The log's records about occurrences, oldest first. */
  records(): LogRecord[]
  /** The places of an owner's records in the log that were written by this moment, ascending. */
  logPositionsOf(scope: Scope, until: number): number[]
  /** What transactional handlers left behind: the label of each alarm set by one, `effect` and the occurrence. */
  effects(): string[]
  /** What was to wake before this moment, of whose alarm nothing was heard since, and is not being delivered by the owner of its shard. */
  overdue(before: number): string[]
}

/** How an alarm is labelled that a transactional handler leaves behind. */
export const EFFECT = 'effect '
