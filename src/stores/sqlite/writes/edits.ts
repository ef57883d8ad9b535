import { type Scope, type Serial, type Snapshot, snapshotAfter } from '../../../alarm/index.ts'
import {
  apply,
  type Decide,
  type Edited,
  type EditResult,
  occurrenceInLog,
  type Selector,
  type StoredAlarm,
} from '../../index.ts'
import { alarmAt, alarmNamed, type RowWrites, readInFlight, snapshotOf } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** Reads, decides and writes the selected alarms one by one; unknown and not-yours are left out alike. */
export function editSelected<A>(
  write: RowWrites,
  scope: Scope,
  which: Selector,
  decide: Decide<A>,
): EditResult<A> {
  const { alarms, next } = select(write, scope, which)
  const results: Edited<A>[] = []
  const inFlight = readInFlight(write.session)
  for (const alarm of alarms) {
    const snapshot = withTimedOut(write, snapshotOf(write.session, alarm, inFlight), alarm.seq, which)
    const { change, answer } = decide(snapshot)
    apply(write, alarm, snapshot.timers, change, write.context)
    results.push({ answer, snapshot: snapshotAfter(snapshot, change) })
  }
  return { results, next }
}

/** The snapshot, with the occurrence that a late report names. */
function withTimedOut({ session }: RowWrites, snapshot: Snapshot, seq: Serial, which: Selector): Snapshot {
  const occurrence = occurrenceInLog(snapshot, which)
  if (occurrence === null) return snapshot
  const found = session.get<{ is_newest: number }>(sql.timedOut, seq, occurrence)
  return found === undefined
    ? snapshot
    : { ...snapshot, timedOut: { occurrence, isNewest: found.is_newest === 1 } }
}

function select(
  write: RowWrites,
  scope: Scope,
  which: Selector,
): { alarms: StoredAlarm[]; next: number | null } {
  const { session } = write
  const named = (name: { id: string } | { key: string }) => alarmNamed(session, scope, name) ?? []
  if ('id' in which || 'key' in which) return { alarms: [named(which)].flat(), next: null }
  if ('ids' in which) return { alarms: which.ids.flatMap((id) => named({ id })), next: null }
  const { tenant, owner } = scope
  const after = which.after ?? 0
  const rows =
    'subject' in which
      ? session.all<{ alarm: number }>(sql.subjectSelection, tenant, owner, which.subject, after, which.limit)
      : 'declaredBy' in which
        ? session.all<{ alarm: number }>(
            sql.declaredSelection,
            tenant,
            owner,
            which.declaredBy,
            after,
            which.limit,
          )
        : session.all<{ alarm: number }>(sql.pendingSelection, tenant, owner, after, which.limit)
  const alarms = rows.flatMap((row) => alarmAt(session, row.alarm) ?? [])
  return { alarms, next: rows.length < which.limit ? null : rows.at(-1)!.alarm }
}
