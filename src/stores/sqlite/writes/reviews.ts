import type { Alarm, Change, Snapshot } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import type { ReviewFilter, ReviewResult } from '../../index.ts'
import { isStoreError, type Session } from '../connection/index.ts'
import {
  alarmAt,
  apply,
  CALENDAR_QUERIES,
  type InFlight,
  readInFlight,
  snapshotOf,
  timersOf,
  type WriteContext,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

const PAGE = 500

interface Selected {
  readonly position: number
  readonly alarm: number
}

/** Deletes a calendar that no live alarm names; false if there is none. */
export function removeCalendar(session: Session, tenant: string, name: string): boolean {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: Selected[] = session.all<Selected>(sql.calendarSelection, tenant, after, PAGE)
    for (const { alarm } of rows) refuseNamed(session, alarmAt(session, alarm), name)
    after = rows.length < PAGE ? undefined : rows.at(-1)!.position
  }
  return session.run(CALENDAR_QUERIES.remove, tenant, name).changes > 0
}

function refuseNamed(session: Session, alarm: ReturnType<typeof alarmAt>, name: string): void {
  if (alarm === undefined || !namesOf(alarm).includes(name) || timersOf(session, alarm).length === 0) return
  throw new WakefulError('calendar.in_use', { alarm: alarm.id, name })
}

function namesOf({ rule }: Alarm): readonly string[] {
  return rule.kind === 'once' ? [] : (rule.exclude?.calendars ?? [])
}

/** Applies a decision to a page of live alarms. */
export function reviewSelected(
  write: WriteContext,
  which: ReviewFilter,
  decide: (snapshot: Snapshot) => Change | null,
): ReviewResult {
  const { session } = write
  const rows =
    'calendarsOf' in which
      ? session.all<Selected>(sql.calendarSelection, which.calendarsOf, which.after, which.limit)
      : session.all<Selected>(sql.zonedSelection, which.after, which.limit)
  const inFlight = readInFlight(session)
  const seqs = [...new Set(rows.map(({ alarm }) => alarm))]
  const changed = seqs.filter((seq) => reviewOne(write, seq, inFlight, decide)).length
  return { changed, next: rows.length < which.limit ? null : rows.at(-1)!.position }
}

/** Skips a row that cannot be read or decided. The next claim quarantines it with the reason. */
function reviewOne(
  write: WriteContext,
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
    apply(write, alarm, snapshot.timers, change)
    return true
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    return false
  }
}
