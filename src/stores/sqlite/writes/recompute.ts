import { type Change, calendarNames, type Snapshot } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import { apply, type RecomputeFilter, type RecomputeResult } from '../../index.ts'
import { isStoreError, type Session } from '../connection/index.ts'
import {
  alarmAt,
  CALENDAR_QUERIES,
  type InFlight,
  type RowWrites,
  readInFlight,
  snapshotOf,
  timersOf,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

const ALL = -1

/** Deletes a calendar that no live alarm names; false if there is none. */
export function removeCalendar(session: Session, tenant: string, name: string): boolean {
  for (const [seq] of session.eachValues(sql.calendarSelection, tenant, 0, ALL)) {
    const alarm = alarmAt(session, seq as number)
    if (alarm === undefined || !calendarNames(alarm).includes(name)) continue
    if (timersOf(session, alarm).length > 0)
      throw new WakefulError('calendar.in_use', { alarm: alarm.id, name })
  }
  return session.run(CALENDAR_QUERIES.remove, tenant, name).changes > 0
}

/** Applies a decision to a page of live alarms. */
export function recomputeSelected(
  write: RowWrites,
  which: RecomputeFilter,
  decide: (snapshot: Snapshot) => Change | null,
): RecomputeResult {
  const { session } = write
  const rows =
    'calendarsOf' in which
      ? session.values(sql.calendarSelection, which.calendarsOf, which.after, which.limit)
      : session.values(sql.zonedSelection, which.after, which.limit)
  const inFlight = readInFlight(session)
  const seqs = new Set(rows.map(([, alarm]) => alarm as number))
  const changed = [...seqs].filter((seq) => recomputeOne(write, seq, inFlight, decide)).length
  return { changed, next: rows.length < which.limit ? null : (rows.at(-1)![0] as number) }
}

/** Skips a row that cannot be read or decided. The next claim quarantines it with the reason. */
function recomputeOne(
  write: RowWrites,
  seq: number,
  inFlight: InFlight,
  decide: (snapshot: Snapshot) => Change | null,
): boolean {
  try {
    const alarm = alarmAt(write.session, seq)
    if (alarm === undefined) return false
    const snapshot = snapshotOf(write.session, alarm, inFlight)
    const change = snapshot.timers.length === 0 ? null : decide(snapshot)
    if (change === null) return false
    apply(write, alarm, snapshot.timers, change, write.context)
    return true
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    return false
  }
}
