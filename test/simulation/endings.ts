import type { StoredAlarm } from '../../src/stores/index.ts'
import { scheduleOf } from '../../src/time/index.ts'
import type { SimulatedBackend } from './simulated-backend.ts'
import type { LoggedRow } from './store/tables.ts'
import type { World } from './world.ts'

const ENDS = ['alarm.fired', 'alarm.failed', 'schedule.ticked', 'timer.due_time_reached']

/** Occurrences due by `until` that do not have exactly one ending in the log. */
export function wrongEndings({ backend }: World<SimulatedBackend>, until: number): string[] {
  const { alarms, events } = backend.database.tables
  return wrongEndingsOf(alarms.values(), events.values(), until)
}

/** A record of the log about an alarm. */
export type AlarmEvent = Pick<LoggedRow, 'type' | 'occurrence' | 'data' | 'alarm'>

/** The same check on these alarms and this log. */
export function wrongEndingsOf(
  alarms: readonly StoredAlarm[],
  events: Iterable<AlarmEvent>,
  until: number,
): string[] {
  const byAlarm = Map.groupBy(events, ({ alarm }) => alarm)
  return alarms.flatMap((alarm) => {
    const events = byAlarm.get(alarm.seq) ?? []
    const ended = events.filter(({ type }) => ENDS.includes(type)).map(scheduledFor)
    const skipped = events.filter(({ type }) => type === 'alarm.skipped').map(skippedRun)
    return instantsOf(alarm, until).flatMap((at) => {
      const ends = ended.filter((each) => each === at).length
      const skips = skipped.filter(({ from, to }) => from <= at && at <= to).length
      if (ends + skips === 1) return []
      return [
        `${alarm.id} (${alarm.rule.kind}) at ${new Date(at).toISOString()}: ended ${ends}, skipped ${skips}`,
      ]
    })
  })
}

/** The instants of an alarm's rule up to a time. */
function instantsOf({ rule, createdAt }: StoredAlarm, until: number): number[] {
  const schedule = scheduleOf(rule)
  const most = rule.kind === 'once' ? 1 : (rule.count ?? Number.POSITIVE_INFINITY)
  const instants: number[] = []
  let at = schedule.next(createdAt)
  while (at !== null && at <= until && instants.length < most) {
    instants.push(at)
    at = schedule.next(at)
  }
  return instants
}

function scheduledFor({ occurrence }: AlarmEvent): number {
  return Number(occurrence!.split('-')[1])
}

function skippedRun({ data }: AlarmEvent): { from: number; to: number } {
  const { from, to } = JSON.parse(data) as { from: string; to: string }
  return { from: Date.parse(from), to: Date.parse(to) }
}
