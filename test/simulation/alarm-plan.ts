import type { Point } from './network.ts'
import type { Timing } from './timing.ts'

/** What becomes of a delivery at its target. */
export interface Task {
  readonly workMs: number
  /** How many first attempts fail. */
  readonly failures: number
  /** Whether the first attempt hangs until it is broken off. */
  readonly hangs: boolean
  /** For a remote target: when each of its reports is sent, after the work; none where it stays silent. */
  readonly reports: readonly Report[]
}

/** A report of a remote target: late ones and second ones come as they will. */
export interface Report {
  readonly afterMs: number
  readonly succeeded: boolean
}

/** Where an alarm goes: a plain handler, a transactional one, one that reports at once, a remote one, or the log. */
export type TargetKind = 'work' | 'write' | 'inline' | 'remote' | 'event'

/** Something a user does to his alarm later. */
export interface Edit {
  readonly atMs: number
  /** At the moment when the next such statement is there, whoever sends it: the worst of moments. */
  readonly on?: { readonly statement: string; readonly point: Point }
  readonly kind: 'cancel' | 'pause' | 'resume' | 'foreign_access' | 'reschedule'
  /** For `move`: when the alarm is due from then on. */
  readonly timing?: Timing
}

/** One alarm of a run, from its set to the last thing its user does to it. */
export interface AlarmPlan {
  readonly name: string
  /** Whose it is. */
  readonly scope: Scope
  readonly atMs: number
  readonly timing: Timing
  readonly target: TargetKind
  readonly task: Task
  /** Moved by setting its key again, instead of by its id. */
  readonly isKeyed: boolean
  /** Its user tries until he is answered, with an idempotency key. */
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

/** JSON that is not what it was after a round trip through JSON.parse, with the name of what was asked for in it. */
export function payloadOf(name: string): string {
  return `{"z": 9007199254740993,"name":"${name}","1":[1e2, -0.0,"\\u00e9é😀"],  "a":null}`
}

/** Text that is not what it was once it is trimmed, or its characters are composed. */
export function messageOf(name: string): string {
  return ` wake ${name}\n\t"é" e\u0301 😀 `
}

/** The name in a payload. */
export function nameIn(payload: string): string {
  return /"name":"([^"]*)"/.exec(payload)![1]!
}
