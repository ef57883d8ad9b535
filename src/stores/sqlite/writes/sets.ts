import { type Alarm, replace } from '../../../alarm/index.ts'
import type { SetRequest, SetResult, StoredAlarm } from '../../index.ts'
import {
  alarmNamed,
  apply,
  assertCalendars,
  insertAlarm,
  readFlights,
  snapshotOf,
  type WriteContext,
} from '../rows/index.ts'

/** Writes new alarms: known idempotency keys answer with the first one, known keys are set again. */
export function setAll(desk: WriteContext, requests: readonly SetRequest[]): SetResult[] {
  return requests.map((request) => setOne(desk, request))
}

function setOne(desk: WriteContext, request: SetRequest): SetResult {
  const { alarm } = request
  const { session } = desk
  if (alarm.idempotencyKey !== null) {
    const first = alarmNamed(session, alarm, { idempotencyKey: alarm.idempotencyKey })
    if (first !== undefined) return { outcome: 'deduped', snapshot: snapshotOf(session, first) }
  }
  assertCalendars(session, alarm)
  const known = alarm.key === null ? undefined : alarmNamed(session, alarm, { key: alarm.key })
  if (known !== undefined) return setAgain(desk, known, request)
  const stored = insertAlarm(desk, alarm, request.timer)
  return {
    outcome: 'created',
    snapshot: { alarm: stored, timers: [newTimer(request)], outcome: null, inFlight: new Set() },
  }
}

/** What was just written, without reading it back: the ids of rows do not matter to the caller. */
function newTimer(request: SetRequest) {
  return { ...request.timer, id: 0, shard: 0, version: 1, edited: false, report: null }
}

function setAgain(desk: WriteContext, known: StoredAlarm, request: SetRequest): SetResult {
  const snapshot = snapshotOf(desk.session, known, readFlights(desk.session))
  const { scheduledFor: first, nominal } = request.timer
  const by = { alarm: request.alarm satisfies Alarm, first, nominal: nominal ?? first }
  apply(desk, known, snapshot.timers, replace(snapshot, by, 'set_again', desk.context))
  const after = alarmNamed(desk.session, known, { id: known.id })
  return { outcome: 'replaced', snapshot: snapshotOf(desk.session, after ?? known) }
}
