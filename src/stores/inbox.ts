import type { Scope, Serial } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Values } from './rows.ts'

/** A wake that waits for an agent without a URL. */
export interface InboxWake extends Scope {
  readonly occurrenceId: string
  readonly alarmId: string
  readonly arrivedAt: number
  /** The wake's JSON text, stored byte for byte. */
  readonly body: string
  /** How often it was handed out. */
  readonly tries: number
}

/** A wake to write. */
export type NewWake = Omit<InboxWake, 'tries'>

/** Which wakes to take, and for how long. */
export interface WakeRequest {
  readonly now: number
  /** They are not handed out again for this long; what is not acknowledged by then is. */
  readonly holdMs: number
  readonly limit: number
}

/** The inboxes of a store, one per tenant and owner. `prune` deletes wakes that are older than the retention. */
export interface Inbox {
  /**
   * Writes a wake, unless there is one of the same occurrence. Refused (`quota_exceeded`) if its owner has `max` of them.
   * Concurrent callers may exceed that by their number, because they do not wait for each other.
   */
  putWake(wake: NewWake, max: number): Promise<void>
  /** Hands out the oldest available wakes until `now + holdMs`, and counts it in `tries`. */
  claimWakes(scope: Scope, request: WakeRequest): Promise<InboxWake[]>
  /**
   * Acknowledges a wake, which removes it. Null if the owner has no such wake, or if it was handed out less often than
   * `triesMin` (0) or more often than `triesMax`.
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

/** The wake of a row, which starts with its number. */
export function wakeOf(values: Values): InboxWake {
  const [, tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries] = values as WakeValues
  return { tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries }
}

type WakeValues = [Serial, string, string, string, string, number, string, number]

/** The values of a wake, in the same order. */
export function wakeValues(wake: InboxWake): (string | number)[] {
  const { tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries } = wake
  return [tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries]
}
