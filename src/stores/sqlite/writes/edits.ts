import { type Scope, snapshotAfter } from '../../../alarm/index.ts'
import {
  apply,
  type Decide,
  type Edited,
  type EditResult,
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
    const snapshot = snapshotOf(write.session, alarm, inFlight)
    const { change, answer } = decide(snapshot)
    apply(write, alarm, snapshot.timers, change, write.context)
    results.push({ answer, snapshot: snapshotAfter(snapshot, change) })
  }
  return { results, next }
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
