import type { Scope } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'

/** A wake that lies ready for an agent without a URL. */
export interface InboxWake extends Scope {
  readonly occurrenceId: string
  readonly alarmId: string
  readonly arrivedAt: number
  /** The wake's JSON text, kept byte for byte. */
  readonly body: string
  /** How often it was taken. */
  readonly tries: number
}

/** A wake to be put. */
export type NewWake = Omit<InboxWake, 'tries'>

/** Which wakes to take, and for how long. */
export interface WakeRequest {
  readonly now: number
  /** Nobody else gets them for so long; what is not acknowledged by then is taken again. */
  readonly holdMs: number
  readonly limit: number
}

/** The inboxes of a store: one per tenant and owner. What arrived before the retention's horizon goes with `prune`. */
export interface Inbox {
  /**
   * Puts a wake; one that is there already (same occurrence) stays as it is. Refused (`quota_exceeded`) where its owner
   * has `max` of them. Who put at the same moment may exceed that by their number: they do not wait for each other.
   */
  putWake(wake: NewWake, max: number): Promise<void>
  /** The oldest that nobody holds: held until `now + holdMs`, with one try more. */
  takeWakes(scope: Scope, request: WakeRequest): Promise<InboxWake[]>
  /**
   * Acknowledged: it is gone. Null where there is none of yours, or it was handed out less often than `triesMin` (0), or
   * more often than `triesMax`.
   */
  removeWake(
    scope: Scope,
    occurrenceId: string,
    triesMin?: number,
    triesMax?: number,
  ): Promise<InboxWake | null>
}

/** What is said where an inbox is full. */
export function inboxFull({ tenant, owner }: Scope, max: number): WakefulError {
  return new WakefulError('inbox.full', { tenant: JSON.stringify(tenant), owner: JSON.stringify(owner), max })
}
