import { calendarNames, isSeen, type ReadScope, type Serial, type Timer } from '../../../src/alarm/index.ts'
import type { AlarmName, StoredAlarm, StoredSnapshot } from '../../../src/stores/index.ts'
import { calendarNamed } from './calendars.ts'
import type { SimulatedDatabase } from './database.ts'
import { scopedName } from './tables.ts'

/** The row of an alarm by id or key, or undefined if this scope has none (promise: isolated). */
export function seqNamed(
  { tables }: SimulatedDatabase,
  scope: ReadScope,
  name: AlarmName,
): Serial | undefined {
  if ('id' in name) {
    const seq = tables.alarmIds.get(name.id)
    const alarm = seq === undefined ? undefined : tables.alarms.get(seq)
    return alarm !== undefined && isSeen(scope, alarm) ? seq : undefined
  }
  if (scope.owner === null) return undefined
  if ('key' in name) return tables.alarmKeys.get(scopedName(scope, name.key))
  const key = scopedName(scope, name.idempotencyKey)
  return tables.alarmIdempotencyKeys.get(key) ?? tables.idempotencyKeys.get(key)
}

/** Reads an alarm with the calendars of its rule. */
export function alarmAt(database: SimulatedDatabase, seq: Serial): StoredAlarm | undefined {
  const alarm = database.tables.alarms.get(seq)
  if (alarm === undefined) return undefined
  const names = calendarNames(alarm)
  if (names.length === 0) return alarm
  return { ...alarm, calendars: names.flatMap((name) => calendarNamed(database, alarm.tenant, name) ?? []) }
}

/** Reads the alarm's timers. */
export function timersOf({ tables }: SimulatedDatabase, seq: Serial): Timer[] {
  return tables.timersOfAlarm.in(seq).map(({ key }) => tables.timers.get(key)!.timer)
}

/** Reads an alarm with its timers and calendars. */
export function snapshotAt(database: SimulatedDatabase, seq: Serial): StoredSnapshot | undefined {
  const alarm = alarmAt(database, seq)
  if (alarm === undefined) return undefined
  const timers = timersOf(database, seq)
  const inFlight = new Set(timers.filter((timer) => isFlying(database, timer)).map(({ id }) => id))
  return { alarm, timers, outcome: database.tables.outcomes.get(seq) ?? null, inFlight }
}

/** Whether the timer is recorded as in flight. */
function isFlying({ tables }: SimulatedDatabase, { id, version, shard }: Timer): boolean {
  return tables.batchesOfShard
    .in(shard)
    .some(({ key }) => tables.inFlight.get(key)!.timers.some((each) => each[0] === id && each[1] === version))
}
