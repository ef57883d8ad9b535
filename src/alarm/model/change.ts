import type { Alarm } from './alarm.ts'
import type { EventDraft } from './event.ts'
import type { EndStatus } from './lifecycle.ts'
import { NO_OUTCOME, type Outcome, type Tally } from './outcome.ts'
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

const NONE: ReadonlySet<Serial> = new Set()

/** The alarm as it is once it has been written for the first time. Stores number the rows, which callers do not see. */
export function newSnapshot(alarm: Alarm, timer: NewTimer): Snapshot {
  return { alarm, timers: [newRow(timer)], outcome: null, inFlight: NONE }
}

/**
 * The alarm as it is once this change has been written: what a call answers. Reading it again would cost another statement
 * and could show a later edit.
 */
export function snapshotAfter(snapshot: Snapshot, change: Change): Snapshot {
  const marked = new Set(change.markEdited)
  const reports = new Map(change.reports?.map(({ id, ok, text }) => [id, { ok, text }]))
  const moves = new Map(change.move?.map((move) => [move.id, move]))
  const kept = snapshot.timers.filter(({ id }) => change.remove?.includes(id) !== true)
  const timers = kept.map((timer): Timer => {
    const move = moves.get(timer.id)
    const row =
      move === undefined
        ? timer
        : { ...timer, ...move, version: timer.version + 1, edited: false, report: null }
    const { id, edited, report } = row
    return { ...row, edited: edited || marked.has(id), report: reports.get(id) ?? report }
  })
  return {
    alarm: change.alarm ?? snapshot.alarm,
    timers: [...timers, ...(change.add ?? []).map(newRow)],
    outcome: outcomeAfter(snapshot.outcome, change),
    inFlight: new Set(kept.map(({ id }) => id)).intersection(snapshot.inFlight),
  }
}

function newRow(timer: NewTimer): Timer {
  return { ...timer, id: 0, shard: 0, version: 1, edited: false, report: null }
}

function outcomeAfter(before: Outcome | null, { outcome = before, status }: Change): Outcome | null {
  // The time of the last fire stays where the new summary names none.
  const after = outcome && { ...outcome, lastFiredAt: outcome.lastFiredAt ?? before?.lastFiredAt ?? null }
  return status === undefined ? after : { ...(after ?? NO_OUTCOME), status }
}

/** What pure decisions need from the world: the moment, chance, and names for new rows. */
export interface Context {
  readonly now: number
  /** From 0 to below 1. */
  readonly random: () => number
  readonly newId: () => string
}
