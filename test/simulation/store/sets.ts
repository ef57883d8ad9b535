import { newSnapshot, replace, type Serial, snapshotAfter } from '../../../src/alarm/index.ts'
import type { SetRequest, SetResult } from '../../../src/stores/index.ts'
import { apply } from '../../../src/stores/postgres/rows/apply.ts'
import { assertCalendars } from './calendars.ts'
import { seqNamed, snapshotAt } from './snapshots.ts'
import { scopedName } from './tables.ts'
import type { Desk } from './write-batch.ts'

/** Writes new alarms: known idempotency keys answer with the first one, known keys are set again. */
export function setAll(desk: Desk, requests: readonly SetRequest[]): SetResult[] {
  return requests.map((request) => setOne(desk, request))
}

function setOne(desk: Desk, request: SetRequest): SetResult {
  const { database } = desk
  const { alarm } = request
  if (alarm.idempotencyKey !== null) {
    // An open transaction may be about to take it.
    database.hold('idempotency_keys', scopedName(alarm, alarm.idempotencyKey))
    const first = seqNamed(database, alarm, { idempotencyKey: alarm.idempotencyKey })
    if (first !== undefined) return { outcome: 'deduped', snapshot: snapshotAt(database, first)! }
  }
  assertCalendars(database, alarm)
  if (alarm.key !== null) {
    database.hold('keys', scopedName(alarm, alarm.key))
    const known = seqNamed(database, alarm, { key: alarm.key })
    if (known !== undefined) return setAgain(desk, known, request)
  }
  desk.writes.insertAlarm(alarm, request.timer)
  return { outcome: 'created', snapshot: newSnapshot(alarm, request.timer) }
}

function setAgain(desk: Desk, seq: Serial, request: SetRequest): SetResult {
  const { database, writes, context } = desk
  database.hold('alarms', seq)
  const snapshot = snapshotAt(database, seq)!
  const { scheduledFor: first, nominal } = request.timer
  const by = { alarm: request.alarm, first, nominal: nominal ?? first }
  const change = replace(snapshot, by, 'set_again', context)
  apply(writes, snapshot.alarm, snapshot.timers, change, context)
  return { outcome: 'replaced', snapshot: snapshotAfter(snapshot, change) }
}
