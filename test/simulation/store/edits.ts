import {
  bySerial,
  type Change,
  calendarNames,
  type Scope,
  type Serial,
  type Snapshot,
  snapshotAfter,
} from '../../../src/alarm/index.ts'
import {
  apply,
  type Decide,
  type Edited,
  type EditResult,
  occurrenceInLog,
  type RecomputeFilter,
  type RecomputeResult,
  type Selector,
  type StoredSnapshot,
} from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { seqNamed, snapshotAt } from './snapshots.ts'
import { scopedName } from './tables.ts'
import type { WriteBatch } from './write-batch.ts'

/** The selected rows, in the order they were named, and where to continue. */
export interface Selection {
  readonly seqs: readonly Serial[]
  readonly next: Serial | null
}

/** Looks up the rows of an edit. Unknown rows and those of other owners are both left out. */
export function select(database: SimulatedDatabase, scope: Scope, which: Selector): Selection {
  const named = (name: { id: string } | { key: string }) => seqNamed(database, scope, name) ?? []
  if ('ids' in which) return { seqs: which.ids.flatMap((id) => named({ id })), next: null }
  if (!('limit' in which)) return { seqs: [named(which)].flat(), next: null }
  const { tables } = database
  const group = scopedName(scope)
  const seqs: Serial[] = []
  for (const { key } of tables.alarmsOfOwner
    .in(group)
    .slice(tables.alarmsOfOwner.upTo(group, which.after ?? 0))) {
    const fits =
      'subject' in which
        ? tables.alarms.get(key)!.subject === which.subject
        : 'declaredBy' in which
          ? tables.alarms.get(key)!.declaredBy === which.declaredBy
          : tables.timersOfAlarm.in(key).length > 0
    if (fits) seqs.push(key)
    if (seqs.length === which.limit) return { seqs, next: key }
  }
  return { seqs, next: null }
}

/** Decides about the selected alarms and writes the decisions. Alarms that are gone meanwhile are left out. */
export function editSelected<A>(
  batch: WriteBatch,
  { seqs, next }: Selection,
  which: Selector,
  decide: Decide<A>,
): EditResult<A> {
  const results: Edited<A>[] = []
  for (const seq of seqs) {
    batch.database.lock('alarms', seq)
    const snapshot = snapshotAt(batch.database, seq)
    if (snapshot === undefined) continue
    const { change, answer } = decide({ ...snapshot, ...timedOutNamed(batch.database, snapshot, which) })
    apply(batch.writes, snapshot.alarm, snapshot.timers, change, batch.context)
    results.push({ answer, snapshot: snapshotAfter(snapshot, change) })
  }
  return { results, next }
}

/** The occurrence that a late report names. */
function timedOutNamed(
  { tables }: SimulatedDatabase,
  snapshot: StoredSnapshot,
  which: Selector,
): Pick<Snapshot, 'timedOut'> {
  const named = occurrenceInLog(snapshot, which)
  const failures = tables.eventsOfAlarm
    .in(snapshot.alarm.seq)
    .map(({ key }) => tables.events.get(key)!)
    .filter(({ failure }) => failure === 'timed_out')
  const found = failures.findLast(({ occurrence }) => named !== null && occurrence === named)
  return found === undefined ? {} : { timedOut: { occurrence: named!, isNewest: found === failures.at(-1) } }
}

/** Computes the instants of live alarms again, a limited number at a time. */
export function recomputeSelected(
  batch: WriteBatch,
  which: RecomputeFilter,
  decide: (snapshot: Snapshot) => Change | null,
): RecomputeResult {
  const places = 'zoned' in which ? zoned(batch.database) : naming(batch.database, which.calendarsOf)
  const found = places.filter(({ place }) => place > which.after).slice(0, which.limit)
  let changed = 0
  for (const seq of new Set(found.map(({ alarm }) => alarm))) {
    batch.database.lock('alarms', seq)
    const snapshot = snapshotAt(batch.database, seq)
    const change = snapshot === undefined || snapshot.timers.length === 0 ? null : decide(snapshot)
    if (change === null) continue
    apply(batch.writes, snapshot!.alarm, snapshot!.timers, change, batch.context)
    changed += 1
  }
  return { changed, next: found.length < which.limit ? null : found.at(-1)!.place }
}

interface Placed {
  readonly place: Serial
  readonly alarm: Serial
}

/** Alarms of a tenant that use calendars. */
function naming({ tables }: SimulatedDatabase, tenant: string): Placed[] {
  return tables.alarms
    .values()
    .filter((alarm) => alarm.tenant === tenant && calendarNames(alarm).length > 0)
    .map(({ seq }) => ({ place: seq, alarm: seq }))
    .sort((a, b) => bySerial(a.place, b.place))
}

/** Timers computed from a zone's wall clock. */
function zoned({ tables }: SimulatedDatabase): Placed[] {
  return tables.timers
    .values()
    .filter(({ timer }) => timer.zoneOffset !== null)
    .map(({ timer, alarm }) => ({ place: timer.id, alarm }))
    .sort((a, b) => bySerial(a.place, b.place))
}
