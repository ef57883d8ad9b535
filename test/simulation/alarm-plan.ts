import type { Point } from './network.ts'
import type { Timing } from './timing.ts'

/** What the target does with a delivery. */
export interface Task {
  readonly workMs: number
  /** How many of the first attempts fail. */
  readonly failures: number
  /** Whether the first attempt hangs until it is aborted. */
  readonly hangs: boolean
  /** For a remote target: when it sends each of its reports after the work. Empty if it never reports. */
  readonly reports: readonly Report[]
}

/** A report of a remote target. Reports may be late or duplicated. */
export interface Report {
  readonly afterMs: number
  readonly succeeded: boolean
}

/** The target: a plain handler, a transactional one, one that reports at once, a remote one, or the log. */
export type TargetKind = 'work' | 'write' | 'inline' | 'remote' | 'event'

/** A later call of the user on the alarm. */
export interface Edit {
  readonly atMs: number
  /** Wait for the next statement of this name, by any process, so that the call races with it. */
  readonly on?: { readonly statement: string; readonly point: Point }
  readonly kind: 'cancel' | 'pause' | 'resume' | 'foreign_access' | 'reschedule' | 'snooze'
  /** For `reschedule` and `snooze`: when the alarm is due from then on. */
  readonly timing?: Timing
}

/** One alarm of a run, with all calls its user makes. */
export interface AlarmPlan {
  readonly name: string
  /** The tenant and owner of the alarm. */
  readonly scope: Scope
  readonly atMs: number
  readonly timing: Timing
  readonly target: TargetKind
  readonly task: Task
  /** Rescheduled by setting its key again instead of by its id. */
  readonly isKeyed: boolean
  /** Every program that starts declares the alarm as it is defined then, by this call. Only for keyed alarms. */
  readonly declaredBy?: 'set' | 'apply'
  /** The user repeats the call until it is answered, with an idempotency key. */
  readonly isRetried: boolean
  readonly maxFailures: number
  readonly priority: number
  readonly overlap: 'skip' | 'queue' | 'allow'
  readonly edits: readonly Edit[]
}

export interface Scope {
  readonly tenant: string
  readonly owner: string
}

/** JSON that a round trip through JSON.parse would change. It contains the name of the ask. */
export function payloadOf(name: string): string {
  return `{"z": 9007199254740993,"name":"${name}","1":[1e2, -0.0,"\\u00e9é😀"],  "a":null}`
}

/** Text that trimming or Unicode normalization would change. */
export function messageOf(name: string): string {
  return ` wake ${name}\n\t"é" e\u0301 😀 `
}

/** Reads the name from a payload. */
export function nameIn(payload: string): string {
  return /"name":"([^"]*)"/.exec(payload)![1]!
}
