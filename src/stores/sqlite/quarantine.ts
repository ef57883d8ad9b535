import type { Desk } from './apply.ts'
import * as sql from './queries.ts'
import type { TimerRow } from './rows.ts'

/** Sets an alarm aside whose row cannot be read: it ends `failed` with the reason, and the rest go on. */
export function quarantine(desk: Desk, row: TimerRow, reason: string): void {
  const { session, context } = desk
  session.run(sql.removeTimer, row.id)
  const alarm = session.get<{ tenant: string; owner: string; target: string }>(sql.alarmScope, row.alarm)
  if (alarm === undefined) return
  const { tenant, owner, target } = alarm
  session.run(sql.removeTimersOfAlarm, tenant, owner, row.alarm)
  const error = `quarantined: ${reason}`
  const result = `FAILED: ${error} (after ${row.attempt} attempts)`
  const { attempt, generation, scheduled_for } = row
  session.run(
    sql.putOutcome,
    row.alarm,
    tenant,
    owner,
    target,
    'failed',
    null,
    null,
    context.now,
    null,
    result,
    error,
    attempt,
    attempt,
  )
  const data = JSON.stringify({ error, attempts: attempt })
  const occurrence = `${generation}-${scheduled_for}`
  session.run(
    sql.insertEvent,
    context.newId(),
    tenant,
    owner,
    'alarm.failed',
    'caused',
    row.alarm,
    occurrence,
    null,
    null,
    context.now,
    data,
  )
  desk.tallies.add({ tenant, owner }, { from: 'pending', to: 'failed', durationMs: null })
}
