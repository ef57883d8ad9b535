import { newSnapshot, type Serial, setAgain, snapshotAfter } from '../../../src/alarm/index.ts'
import { apply, type SetRequest, type SetResult } from '../../../src/stores/index.ts'
import { assertCalendars } from './calendars.ts'
import { seqNamed, snapshotAt } from './snapshots.ts'
import { scopedName } from './tables.ts'
import type { WriteBatch } from './write-batch.ts'

/** Writes new alarms. A known idempotency key returns the first alarm; a known key sets its alarm again. */
export function setAll(batch: WriteBatch, requests: readonly SetRequest[]): SetResult[] {
  return requests.map((request) => setOne(batch, request))
}

function setOne(batch: WriteBatch, request: SetRequest): SetResult {
  const { database } = batch
  const { alarm } = request
  if (alarm.idempotencyKey !== null) {
    // An open transaction may be about to use it.
    database.lock('idempotency_keys', scopedName(alarm, alarm.idempotencyKey))
    const first = seqNamed(database, alarm, { idempotencyKey: alarm.idempotencyKey })
    if (first !== undefined) return { outcome: 'deduped', snapshot: snapshotAt(database, first)! }
  }
  assertCalendars(database, alarm)
  if (alarm.key !== null) {
    database.lock('keys', scopedName(alarm, alarm.key))
    const known = seqNamed(database, alarm, { key: alarm.key })
    if (known !== undefined) return setKnown(batch, known, request)
  }
  batch.writes.insertAlarm(alarm, request.timer)
  return { outcome: 'created', snapshot: newSnapshot(alarm, request.timer) }
}

function setKnown(batch: WriteBatch, seq: Serial, { alarm, timer, resumes }: SetRequest): SetResult {
  const { database, writes, context } = batch
  database.lock('alarms', seq)
  const snapshot = snapshotAt(database, seq)!
  const wanted = { alarm, first: timer.scheduledFor, nominal: timer.nominal ?? timer.scheduledFor, resumes }
  const { change, outcome } = setAgain(snapshot, wanted, context)
  apply(writes, snapshot.alarm, snapshot.timers, change, context)
  return { outcome, snapshot: snapshotAfter(snapshot, change) }
}
