/** The names of all faults. */
export type FaultName =
  // Faults of a process or its host.
  | 'kill'
  | 'killAtEvent'
  | 'killAtStatement'
  | 'pause'
  | 'stall'
  | 'leaseRace'
  | 'close'
  | 'leave'
  | 'join'
  | 'deploy'
  // The wall clock is set by less than an hour, or by more.
  | 'clockStep'
  | 'clockLeap'
  // Faults of the connection to the database.
  | 'partition'
  | 'slow'
  | 'requestLost'
  | 'responseLost'
  | 'hang'
  // Faults of the database.
  | 'conflict'
  | 'diskFull'
  | 'outage'
  // For a file: another program holds its write lock.
  | 'fileLocked'
  | 'databaseStep'
  // A user's open transaction has locked a shard.
  | 'shardLocked'
  // Faults of notices between processes.
  | 'noticeLost'
  | 'noticeLate'
  | 'noticeDuplicated'

/** How often a fault was injected, and how often it hit something in flight. */
export interface FaultCount {
  readonly count: number
  readonly inFlight: number
}

/** Marks an injected fault as having hit something in flight. May be called more than once. */
export type MarkHit = () => void

/**
 * Statements that change nothing, or only the process's own heartbeat. An idle process sends them too. A fault that
 * hits any other statement between request and response has hit something in flight.
 */
const IDLE: ReadonlySet<string> = new Set([
  'heartbeat', 'heartbeat.shards', 'acquire.register', 'clock', 'listen', 'notice', 'log.poll', 'claim.peek', 'claim.fair_scan', 'claim.next_timers', 'get', 'list', 'stats', 'events', 'story',
  'last_event', 'last_seen', 'calendars', 'unreviewed_calendars', 'fact', 'ownership', 'edit.select',
  'rollback',
]) // biome-ignore format: a list

/** Whether a statement writes or claims something. */
export function hasEffect(statement: string): boolean {
  return !IDLE.has(statement)
}

/**
 * Counts faults, so that a fault that never hits anything is noticed. A fault of a process hits if the process is
 * delivering something or waits for a statement that writes or claims. A lasting fault also hits if such a statement
 * meets it later.
 */
export class FaultCounter {
  readonly #tallies = new Map<FaultName, { count: number; inFlight: number }>()
  /**
   * Called for each injected fault with the affected process (null: all of them) and the affected statement, if any.
   */
  onFault: (fault: FaultName, process: string | null, statement?: string) => void = () => {}

  /** Counts an injected fault. Returns how to mark that it hit. */
  attempt(fault: FaultName, process: string | null, statement?: string): MarkHit {
    this.onFault(fault, process, statement)
    const tally = this.#tallies.get(fault) ?? { count: 0, inFlight: 0 }
    this.#tallies.set(fault, tally)
    tally.count += 1
    let acknowledged = false
    return () => {
      if (!acknowledged) tally.inFlight += 1
      acknowledged = true
    }
  }

  /** Counts a fault for which it is known at once whether it hits something in flight. */
  note(fault: FaultName, isInFlight: boolean, process: string | null, statement?: string): void {
    const markHit = this.attempt(fault, process, statement)
    if (isInFlight) markHit()
  }

  of(fault: FaultName): FaultCount {
    return this.#tallies.get(fault) ?? { count: 0, inFlight: 0 }
  }

  /** All counts, by name. */
  get tallies(): ReadonlyMap<FaultName, FaultCount> {
    return new Map([...this.#tallies].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Lines such as `kill 120, 97 in flight`. */
  get lines(): string[] {
    return [...this.tallies].map(([fault, { count, inFlight }]) => `${fault} ${count}, ${inFlight} in flight`)
  }
}
