/** Everything that can befall a world. */
export type FaultName =
  // A process, or the host it runs on.
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
  // Its wall clock is set, by less than an hour or by more.
  | 'clockStep'
  | 'clockLeap'
  // The way to the database.
  | 'partition'
  | 'slow'
  | 'requestLost'
  | 'responseLost'
  | 'hang'
  // The database.
  | 'conflict'
  | 'diskFull'
  | 'outage'
  // A file: somebody else has its write lock.
  | 'fileLocked'
  | 'databaseStep'
  // A user's transaction stays open that has locked a shard.
  | 'shardLocked'
  // What processes are told of each other.
  | 'noticeLost'
  | 'noticeLate'
  | 'noticeDuplicated'

/** How often a fault was tried, and how often it hit something in flight. */
export interface FaultCount {
  readonly count: number
  readonly inFlight: number
}

/** A fault that was tried: told, once or more often, that it has hit something in flight. */
export type MarkHit = () => void

/**
 * Statements that change nothing, or nothing but the process's own heartbeat: an idle process sends them too. What hits
 * any other statement between its sending and its answer has hit something in flight.
 */
const IDLE: ReadonlySet<string> = new Set([
  'heartbeat', 'heartbeat.shards', 'acquire.register', 'clock', 'listen', 'notice', 'log.poll', 'claim.peek', 'claim.fair_scan', 'claim.next_timers', 'get', 'list', 'stats', 'events', 'story',
  'last_event', 'last_seen', 'calendars', 'unreviewed_calendars', 'fact', 'ownership', 'edit.select',
  'rollback',
]) // biome-ignore format: a list

/** Whether a statement writes or takes something. */
export function hasEffect(statement: string): boolean {
  return !IDLE.has(statement)
}

/**
 * What has befallen a world, so that a fault that never lands is seen. A fault of a process lands where the process is
 * delivering something, or waits for a statement that writes or takes; one that lasts, also where such a statement meets
 * it later.
 */
export class FaultCounter {
  readonly #tallies = new Map<FaultName, { count: number; inFlight: number }>()
  /** Told of each fault as it is tried, which process it befalls (null: all of them), and which statement, if one. */
  onFault: (fault: FaultName, process: string | null, statement?: string) => void = () => {}

  /** Counts a fault that is tried; answers how to say that it has landed. */
  attempt(fault: FaultName, process: string | null, statement?: string): MarkHit {
    this.onFault(fault, process, statement)
    const tally = this.#tallies.get(fault) ?? { count: 0, inFlight: 0 }
    this.#tallies.set(fault, tally)
    tally.count += 1
    let landed = false
    return () => {
      if (!landed) tally.inFlight += 1
      landed = true
    }
  }

  /** Counts a fault of which it is known at once whether it hits something in flight. */
  note(fault: FaultName, isInFlight: boolean, process: string | null, statement?: string): void {
    const markHit = this.attempt(fault, process, statement)
    if (isInFlight) markHit()
  }

  of(fault: FaultName): FaultCount {
    return this.#tallies.get(fault) ?? { count: 0, inFlight: 0 }
  }

  /** All that was tried, by name. */
  get tallies(): ReadonlyMap<FaultName, FaultCount> {
    return new Map([...this.#tallies].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** For people: `kill 120, 97 in flight`. */
  get lines(): string[] {
    return [...this.tallies].map(([fault, { count, inFlight }]) => `${fault} ${count}, ${inFlight} in flight`)
  }
}
