import { newSnapshot, setAgain, snapshotAfter } from '../../../alarm/index.ts'
import { apply, type SetRequest, type SetResult, type StoredAlarm } from '../../index.ts'
import { alarmNamed, assertCalendars, type RowWrites, readInFlight, snapshotOf } from '../rows/index.ts'

/** Writes new alarms: known idempotency keys answer with the first one, known keys are set again. */
export function setAll(write: RowWrites, requests: readonly SetRequest[]): SetResult[] {
  return requests.map((request) => setOne(write, request))
}

function setOne(write: RowWrites, request: SetRequest): SetResult {
  const { alarm } = request
  const { session } = write
  if (alarm.idempotencyKey !== null) {
    const first = alarmNamed(session, alarm, { idempotencyKey: alarm.idempotencyKey })
    if (first !== undefined) return { outcome: 'deduped', snapshot: snapshotOf(session, first) }
  }
  if (alarm.rule.kind !== 'once') assertCalendars(session, alarm)
  const known = alarm.key === null ? undefined : alarmNamed(session, alarm, { key: alarm.key })
  if (known !== undefined) return setKnown(write, known, request)
  const stored = write.insertAlarm(alarm, request.timer)
  return { outcome: 'created', snapshot: newSnapshot(stored, request.timer) }
}

function setKnown(write: RowWrites, known: StoredAlarm, { alarm, timer, resumes }: SetRequest): SetResult {
  const snapshot = snapshotOf(write.session, known, readInFlight(write.session))
  const wanted = { alarm, first: timer.scheduledFor, nominal: timer.nominal ?? timer.scheduledFor, resumes }
  const { change, outcome } = setAgain(snapshot, wanted, write.context)
  apply(write, known, snapshot.timers, change, write.context)
  return { outcome, snapshot: snapshotAfter(snapshot, change) }
}
