import type { Alarm, Target, TargetSpec, Timer } from '../alarm/index.ts'

/** A target as an object that names its kind: `{ webhook: 'https://…' }`. */
export type TargetObject = Exclude<TargetSpec, string>

/** One attempt at delivering an occurrence. */
export interface Delivery {
  readonly alarm: Alarm
  readonly timer: Timer
  readonly firedAt: number
  readonly signal: AbortSignal
  /** The open transaction of a transactional handler. */
  readonly tx: unknown
}

/** What the target answered. A throw is a failed attempt. */
export interface DeliveryReceipt {
  /** What the target reported in its answer. */
  readonly report: string | null
}

/** A failed attempt that says more than its message. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure'
  readonly retryAfterMs: number | undefined
  /** The target refuses for good: no retry. */
  readonly final: boolean
  /** The target is not there any more: no retry, and its alarm is cancelled. */
  readonly gone: boolean

  constructor(message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause })
    this.retryAfterMs = options.retryAfterMs
    this.final = options.final ?? false
    this.gone = options.gone ?? false
  }
}

interface FailureOptions {
  readonly retryAfterMs?: number
  readonly final?: boolean
  readonly gone?: boolean
  readonly cause?: unknown
}

/** Thrown when nothing was sent because the target cannot take it now: the occurrence waits, uncounted, and comes again. */
export class Postponed extends Error {
  override readonly name = 'Postponed'
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

/** A kind of target: where a fire can go. To add one, write this and register it in `hosts/`. */
export interface TargetKind {
  /** Also the field by which a target names its kind. */
  readonly kind: string
  /** As error messages name it: `a webhook`. */
  readonly title: string
  /** The fields its targets may have; others are refused before `parse`. */
  readonly fields: readonly string[]
  /** Parses a target that names this kind, or throws. */
  parse(spec: TargetObject): Target
  /** The names of targets that are registered in this process. */
  names(): readonly string[]
  /** Whether this process can deliver to it now. */
  canRun(target: Target): boolean
  isTransactional(target: Target): boolean
  /** How long one attempt may take if the alarm does not set it. */
  timeoutMs(target: Target): number
  deliver(delivery: Delivery): Promise<DeliveryReceipt>
}

/** What the engine sees of targets. */
export type Dispatcher = Omit<TargetKind, 'kind' | 'title' | 'fields' | 'parse'>
