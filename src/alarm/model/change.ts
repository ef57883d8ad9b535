import type { Alarm } from './alarm.ts'
import type { EventDraft } from './event.ts'
import type { EndStatus } from './lifecycle.ts'
import { NO_OUTCOME, type Outcome, type Tally } from './outcome.ts'
import type { Serial } from './serial.ts'
import type { EarlyReport, NewTimer, Timer } from './timer.ts'

/** An alarm with its timers and summary, read at one moment. */
export interface Snapshot {
  readonly alarm: Alarm
  readonly timers: readonly Timer[]
  readonly outcome: Outcome | null
  /** Timers that a process has recorded as being delivered now. */
  readonly inFlight: ReadonlySet<Serial>
}

/** New values of a timer. Its version grows; fields that are not named stay. */
export interface TimerUpdate extends Partial<NewTimer> {
  readonly id: Serial
}

/**
 * Everything one decision writes, applied in one transaction or not at all.
 * Pure functions make changes; stores only apply them.
 */
export interface Change {
  readonly remove?: readonly Serial[]
  readonly update?: readonly TimerUpdate[]
  readonly add?: readonly NewTimer[]
  /** In-flight timers whose settle must read the alarm again. */
  readonly markEdited?: readonly Serial[]
  /** Reports on timers that are still in flight. */
  readonly reports?: readonly ({ readonly id: Serial } & EarlyReport)[]
  /** Replaces the alarm's row: edits of users, and a target that is gone. */
  readonly alarm?: Alarm
  /** Ends the alarm, and leaves the rest of its outcome as it is. */
  readonly status?: EndStatus
  /** Replaces the outcome; `null` deletes it. */
  readonly outcome?: Outcome | null
  readonly events?: readonly EventDraft[]
  /** How the counters behind `stats` change: the alarm leaves one and enters another. */
  readonly tally?: Tally
  /** New alarms that follow from this one: for a dead-letter target. */
  readonly spawn?: readonly { readonly alarm: Alarm; readonly timer: NewTimer }[]
}

const NONE: ReadonlySet<Serial> = new Set()

/** A new alarm after it was written. */
export function newSnapshot(alarm: Alarm, timer: NewTimer): Snapshot {
  return { alarm, timers: [newRow(timer)], outcome: null, inFlight: NONE }
}

/**
 * The alarm after this change was written: the result of a call. Reading it again would cost another statement and could
 * show a later edit.
 */
export function snapshotAfter(snapshot: Snapshot, change: Change): Snapshot {
  const marked = new Set(change.markEdited)
  const reports = new Map(change.reports?.map(({ id, ok, text }) => [id, { ok, text }]))
  const updates = new Map(change.update?.map((update) => [update.id, update]))
  const kept = snapshot.timers.filter(({ id }) => change.remove?.includes(id) !== true)
  const timers = kept.map((timer): Timer => {
    const update = updates.get(timer.id)
    const row =
      update === undefined
        ? timer
        : { ...timer, ...update, version: timer.version + 1, edited: false, report: null }
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

/** Id and shard are placeholders: the store assigns them, and views do not have them. */
function newRow(timer: NewTimer): Timer {
  return { ...timer, id: 0, shard: 0, version: 1, edited: false, report: null }
}

function outcomeAfter(before: Outcome | null, { outcome = before, status }: Change): Outcome | null {
  // The time of the last fire stays where the new summary names none.
  const after = outcome && { ...outcome, lastFiredAt: outcome.lastFiredAt ?? before?.lastFiredAt ?? null }
  return status === undefined ? after : { ...(after ?? NO_OUTCOME), status }
}

/** What pure decisions need: the time, a random number, and ids for new rows. */
export interface Context {
  readonly now: number
  /** From 0 to below 1. */
  readonly random: () => number
  readonly newId: () => string
}
