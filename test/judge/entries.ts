/**
 * The ledger: what was observed during a run. The chaos campaigns and the simulator share these entries. Times (`at`,
 * instants) are milliseconds by the store's clock. Optional fields may be left out; the judge then skips the checks that
 * need them.
 */

/** A request for an alarm, written before it is sent: a set, or with `alarmId` a reschedule of that alarm. */
export interface Ask {
  readonly type: 'ask'
  readonly run: number
  /** Unique within the campaign. Every delivery carries it. */
  readonly name: string
  /** Asks with the same key replace each other, in ledger order. */
  readonly key: string | null
  /** Every due instant up to the end of the run, ascending. */
  readonly instants: readonly number[]
  readonly ack: 'delivery' | 'report'
  /** Whether the target is the event log. Then the record is the delivery. */
  readonly toLog: boolean
  /** Whether the handler writes one row that must commit with the settle. */
  readonly effect: boolean
  /** When it was sent. */
  readonly at?: number
  /** The alarm that this reschedules. Absent for a set. */
  readonly alarmId?: string
  /** A recurring alarm does not owe instants before its answer: it may have been created after them. */
  readonly recurs?: boolean
  /** JSON text that every start must carry byte for byte. */
  readonly payload?: string
  readonly message?: string
  /** The tenant and owner, as `tenant/owner`. */
  readonly scope?: string
  /** The largest configured delay after the instant. */
  readonly jitterMs?: number
  /** The longest backoff between two attempts. */
  readonly retryMsMax?: number
  /** How long the alarm waits for a report. */
  readonly reportMs?: number
  /** Only occurrences later than this may be skipped as misfires. */
  readonly graceMs?: number
  /** Whether an occurrence may be skipped because another still waits for its report. */
  readonly skipsOnOverlap?: boolean
  /** Whether no occurrence begins while another is being delivered or waits for its report. */
  readonly isExclusive?: boolean
  /** The number of attempts before an occurrence fails for good. */
  readonly attemptsMax?: number
}

/** A delivery began. A handler writes this first. */
export interface Start {
  readonly type: 'start'
  readonly run: number
  readonly at: number
  readonly name: string
  readonly alarmId: string
  readonly occurrenceId: string
  readonly scheduledFor: number
  readonly attempt: number
  /** The handler will fail on purpose, so another attempt is expected. */
  readonly willFail: boolean
  /** The delivering process, and the process that held the shard's lease in the store at that moment. */
  readonly process?: string
  readonly owner?: string | null
  /** The payload the handler received. */
  readonly payload?: string | null
  readonly message?: string | null
  readonly scope?: string
  /** Deliveries running in this process, including this one. */
  readonly running?: number
}

/** A fault that hit one run, or every run (0), for a while: no store, or no CPU time. */
export interface Broken {
  readonly type: 'broken'
  readonly run: number
  readonly what: 'restart' | 'cut' | 'half_open' | 'stall' | 'lost' | 'slow' | 'clock' | 'disk_full'
  readonly at: number
  /** How long deliveries may still be affected. */
  readonly lastsMs: number
  readonly logEnd: number
  readonly inFlight: number
}

/** The run was killed. Records the end of the log and how much was unsettled or unanswered. */
export interface Killed {
  readonly type: 'killed'
  readonly run: number
  /** Present if several processes run at once. The kill explains nothing before it. */
  readonly at?: number
  readonly logEnd: number
  readonly inFlight: number
  readonly unanswered: number
}

/** The process was paused for longer than its lease and continued later. */
export interface Paused {
  readonly type: 'process_paused'
  readonly run: number
  readonly logEnd: number
  readonly inFlight: number
}

/** A user's call on an existing alarm: `…ing` when it is sent, the other when it is answered. */
export type EditEntry =
  | { readonly type: 'cancelling'; readonly run: number; readonly alarmId: string; readonly at?: number }
  | {
      readonly type: 'cancel'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'cancelled' | 'firing' | 'ended'
      readonly at?: number
    }
  /** A user's pause and resume of an alarm; `process_paused` is about a process. */
  | {
      readonly type: 'pausing' | 'resuming'
      readonly run: number
      readonly alarmId: string
      readonly at: number
    }
  | {
      readonly type: 'paused'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'paused' | 'refused'
      readonly at: number
    }
  | {
      readonly type: 'resumed'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'resumed' | 'refused'
      readonly at: number
    }

/** An entry of the ledger. Entries are in the order in which events became known. */
export type Entry =
  | Ask
  /** The set or reschedule was answered. */
  | {
      readonly type: 'set'
      readonly run: number
      readonly name: string
      readonly alarmId: string
      readonly at?: number
    }
  /** A program that started has declared the current ask again, which was answered: nothing may have changed. */
  | {
      readonly type: 'declared'
      readonly run: number
      readonly name: string
      readonly alarmId: string
      readonly isUnchanged: boolean
      readonly at?: number
    }
  /** The ask was refused (the alarm had ended, or a conflict): nothing was written. */
  | { readonly type: 'refused'; readonly run: number; readonly name: string; readonly at?: number }
  | EditEntry
  | Start
  /** The closing process aborted this delivery at its drain bound. It does not count as an attempt. */
  | {
      readonly type: 'drained'
      readonly run: number
      readonly occurrenceId: string
      readonly attempt: number
    }
  /** The target's report on an occurrence was accepted. */
  | {
      readonly type: 'report'
      readonly run: number
      readonly alarmId: string
      readonly occurrenceId: string
      readonly succeeded: boolean
      readonly at: number
    }
  /** A caller used an id of another owner. The answer must be `not_found`. */
  | { readonly type: 'foreign_access'; readonly run: number; readonly call: string; readonly answer: string }
  /** A reader of the log, whose cursor survives restarts, received the record at this position. */
  | { readonly type: 'read'; readonly run: number; readonly reader: string; readonly position: number }
  /** A failure that no kill explains. */
  | { readonly type: 'error'; readonly run: number; readonly text: string }
  | Killed
  | Paused
  | Broken
  /** No fault happens after this. */
  | { readonly type: 'calm'; readonly run?: 0; readonly at: number }
  /** A call or the engine could not reach the store. The call stays unanswered. */
  | { readonly type: 'unavailable'; readonly run: number; readonly text: string }
  | { readonly type: 'closed'; readonly run: number }
