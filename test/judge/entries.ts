/**
 * What was seen while it happened, in words that the chaos campaigns and the simulator share. Moments (`at`, instants)
 * are milliseconds by the store's clock. What is optional is for those who know it: the judge holds nothing against a
 * ledger that leaves it out.
 */

/** What an alarm promises, written down before it is asked for: a set, or with `alarmId` the move of that alarm. */
export interface Ask {
  readonly type: 'ask'
  readonly run: number
  /** Unique over the whole campaign; every delivery carries it. */
  readonly name: string
  /** Asks that share a key replace each other, in the order of the ledger. */
  readonly key: string | null
  /** Every instant it is due at, ascending, up to the end of the run. */
  readonly instants: readonly number[]
  readonly ack: 'delivery' | 'report'
  /** Whether its target is the log itself: then the record is the delivery. */
  readonly toLog: boolean
  /** Whether its handler writes one row that must commit with the settle. */
  readonly effect: boolean
  /** When it was sent. */
  readonly at?: number
  /** The alarm that this moves (a reschedule); otherwise it is a set. */
  readonly alarmId?: string
  /** Its instants before it was answered are no promise: the alarm may have been made after them. */
  readonly recurs?: boolean
  /** JSON text that every start must carry byte for byte. */
  readonly payload?: string
  readonly message?: string
  /** Whose it is: tenant/owner. */
  readonly scope?: string
  /** By how much it may wake after its instant on purpose. */
  readonly jitterMs?: number
  /** The longest that a failed attempt waits for the next. */
  readonly retryMsMax?: number
  /** How long a report is waited for. */
  readonly reportMs?: number
  /** What is later than this, and nothing else, may be skipped as missed. */
  readonly missedMs?: number
  /** Whether one may be skipped because another still waits for its report. */
  readonly yields?: boolean
  /** Whether none begins while another is delivered, or waits for its report. */
  readonly isAlone?: boolean
  /** How often an occurrence is tried before it fails for good. */
  readonly triesMax?: number
}

/** One delivery began: the first thing a handler writes. */
export interface Start {
  readonly type: 'start'
  readonly run: number
  readonly at: number
  readonly name: string
  readonly alarmId: string
  readonly occurrenceId: string
  readonly scheduledFor: number
  readonly attempt: number
  /** The handler means to fail, so that another attempt is right. */
  readonly willFail: boolean
  /** Who delivers, and who owned the shard in the store at that very moment. */
  readonly process?: string
  readonly owner?: string | null
  /** What the handler was given. */
  readonly payload?: string | null
  readonly message?: string | null
  readonly scope?: string
  /** Deliveries under way in this process, this one included. */
  readonly underWay?: number
}

/** A run, or every run (0), was cut off from the store, or from time, for a while. */
export interface Broken {
  readonly type: 'broken'
  readonly run: number
  readonly what: 'restart' | 'cut' | 'half_open' | 'stall' | 'lost' | 'slow' | 'clock' | 'disk_full'
  readonly at: number
  /** For how long what starts may still be hit by it. */
  readonly lastsMs: number
  readonly logEnd: number
  readonly inFlight: number
}

/** The run was killed; the log ended at this place, and this much was unsettled or unanswered. */
export interface Killed {
  readonly type: 'killed'
  readonly run: number
  /** When, where several processes run at once: nothing before it is explained by it. */
  readonly at?: number
  readonly logEnd: number
  readonly inFlight: number
  readonly unanswered: number
}

/** The run was stopped for longer than its lease; it goes on later. */
export interface Paused {
  readonly type: 'paused'
  readonly run: number
  readonly logEnd: number
  readonly inFlight: number
}

/** What a user did to an alarm other than asking for it: `…ing` is sent, the other is its answer. */
export type EditEntry =
  | { readonly type: 'cancelling'; readonly run: number; readonly alarmId: string; readonly at?: number }
  | {
      readonly type: 'cancel'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'cancelled' | 'firing' | 'ended'
      readonly at?: number
    }
  /** The user's own pause of an alarm, and its end; `paused` is about a process. */
  | {
      readonly type: 'parking' | 'unparking'
      readonly run: number
      readonly alarmId: string
      readonly at: number
    }
  | {
      readonly type: 'parked'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'parked' | 'refused'
      readonly at: number
    }
  | {
      readonly type: 'unparked'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'unparked' | 'refused'
      readonly at: number
    }

/** A line of the ledger. Its order is the order in which things were known. */
export type Entry =
  | Ask
  /** The set was answered. */
  | {
      readonly type: 'set'
      readonly run: number
      readonly name: string
      readonly alarmId: string
      readonly at?: number
    }
  /** The ask was refused for certain (the alarm had ended, a conflict): nothing was written. */
  | { readonly type: 'refused'; readonly run: number; readonly name: string; readonly at?: number }
  | EditEntry
  | Start
  /** The process was closing and its drain bound was reached: it broke this delivery off, which counts as no attempt. */
  | {
      readonly type: 'drained'
      readonly run: number
      readonly occurrenceId: string
      readonly attempt: number
    }
  /** The target's report on an occurrence was taken in. */
  | {
      readonly type: 'report'
      readonly run: number
      readonly alarmId: string
      readonly occurrenceId: string
      readonly isGood: boolean
      readonly at: number
    }
  /** Somebody called with an id that is not his: he must be told that there is no such thing. */
  | { readonly type: 'snoop'; readonly run: number; readonly call: string; readonly answer: string }
  /** A follower of the log, whose cursor outlives restarts, was given the record at this place. */
  | { readonly type: 'read'; readonly run: number; readonly reader: string; readonly place: number }
  /** Something failed that no kill explains. */
  | { readonly type: 'trouble'; readonly run: number; readonly text: string }
  | Killed
  | Paused
  | Broken
  /** From here on no fault happens. */
  | { readonly type: 'calm'; readonly run?: 0; readonly at: number }
  /** A call or the engine was told that the store cannot be reached: what was asked for stays unanswered. */
  | { readonly type: 'unavailable'; readonly run: number; readonly text: string }
  | { readonly type: 'closed'; readonly run: number }
