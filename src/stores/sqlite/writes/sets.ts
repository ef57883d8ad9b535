import { type Alarm, newSnapshot, replace, snapshotAfter } from '../../../alarm/index.ts'
import type { SetRequest, SetResult, StoredAlarm } from '../../index.ts'
import {
  alarmNamed,
  apply,
  assertCalendars,
  insertAlarm,
  readInFlight,
  snapshotOf,
  type WriteContext,
} from '../rows/index.ts'

/** Writes new alarms: known idempotency keys answer with the first one, known keys are set again. */
export function setAll(write: WriteContext, requests: readonly SetRequest[]): SetResult[] {
  return requests.map((request) => setOne(write, request))
}

function setOne(write: WriteContext, request: SetRequest): SetResult {
  const { alarm } = request
  const { session } = write
  if (alarm.idempotencyKey !== null) {
    const first = alarmNamed(session, alarm, { idempotencyKey: alarm.idempotencyKey })
    if (first !== undefined) return { outcome: 'deduped', snapshot: snapshotOf(session, first) }
  }
  if (alarm.rule.kind !== 'once') assertCalendars(session, alarm)
  const known = alarm.key === null ? undefined : alarmNamed(session, alarm, { key: alarm.key })
  if (known !== undefined) return setAgain(write, known, request)
  const stored = insertAlarm(write, alarm, request.timer)
  return { outcome: 'created', snapshot: newSnapshot(stored, request.timer) }
}

function setAgain(write: WriteContext, known: StoredAlarm, request: SetRequest): SetResult {
  const snapshot = snapshotOf(write.session, known, readInFlight(write.session))
  const { scheduledFor: first, nominal } = request.timer
  const by = { alarm: request.alarm satisfies Alarm, first, nominal: nominal ?? first }
  const change = replace(snapshot, by, 'set_again', write.context)
  apply(write, known, snapshot.timers, change)
  return { outcome: 'replaced', snapshot: snapshotAfter(snapshot, change) }
}
