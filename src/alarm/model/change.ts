import type { Alarm } from './alarm.ts'
import type { EventDraft } from './event.ts'
import type { EndStatus } from './lifecycle.ts'
import type { Outcome, Tally } from './outcome.ts'
import type { Serial } from './serial.ts'
import type { EarlyReport, NewTimer, Timer } from './timer.ts'

/** All that is known of one alarm at one moment of the store. */
export interface Snapshot {
  readonly alarm: Alarm
  readonly timers: readonly Timer[]
  readonly outcome: Outcome | null
  /** Timers that an owner has recorded as being delivered now. */
  readonly inFlight: ReadonlySet<Serial>
}

/** A timer's next place. Its version grows; what is not named stays. */
export interface TimerMove extends Partial<NewTimer> {
  readonly id: Serial
}

/**
 * Everything one decision writes, applied in one transaction or not at all.
 * Pure functions make changes; stores only apply them.
 */
export interface Change {
  readonly remove?: readonly Serial[]
  readonly move?: readonly TimerMove[]
  readonly add?: readonly NewTimer[]
  /** In-flight timers whose settle must look at the alarm again. */
  readonly markEdited?: readonly Serial[]
  /** What targets said of timers that are still in flight. */
  readonly reports?: readonly ({ readonly id: Serial } & EarlyReport)[]
  /** Replaces the record: users' edits only. */
  readonly alarm?: Alarm
  /** Ends the alarm, and leaves the rest of its summary as it is. */
  readonly status?: EndStatus
  /** Replaces the summary; `null` forgets it. */
  readonly outcome?: Outcome | null
  readonly events?: readonly EventDraft[]
  readonly tally?: Tally
  /** Other alarms that come of this one: a dead-letter target's. */
  readonly spawn?: readonly { readonly alarm: Alarm; readonly timer: NewTimer }[]
}

/** What pure decisions need from the world: the moment, chance, and names for new rows. */
export interface Context {
  readonly now: number
  /** From 0 to below 1. */
  readonly random: () => number
  readonly newId: () => string
}
