import type { AlarmView } from '../alarm/index.ts'

/** The argument of a handler. */
export interface Fire {
  readonly alarm: AlarmView
  readonly occurrence: { readonly id: string; readonly scheduledFor: Date }
  readonly firedAt: Date
  /** How long after it was to wake, its jitter included, by the store's clock; never negative. */
  readonly driftMs: number
  /** From 1. */
  readonly attempt: number
  readonly payload: unknown
  /** The payload as JSON text, byte for byte; null where there is none. */
  readonly payloadJson: string | null
  readonly message: string
  /** Aborted when ownership is lost, the attempt times out, or the drain's bound is reached. */
  readonly signal: AbortSignal
  /** On a transactional handler: what it writes here commits with the settle, or not at all. */
  readonly tx: unknown
  /** Reports success with a text, for alarms that ask for a report. */
  complete(result?: string): void
  /** Reports failure: a failed attempt, as if thrown. */
  fail(reason: string): void
}

/** Runs when an alarm fires: returning is success, throwing is a failed attempt. */
export type Handler = (fire: Fire) => unknown

/** How a handler is run. */
export interface HandlerOptions {
  /** Give it `fire.tx`: one at a time, and short, since others wait for the write lock meanwhile. */
  readonly transactional?: boolean
  /** How long one attempt may take if the alarm does not set it (default 5 minutes). */
  readonly timeoutMs?: number
}
