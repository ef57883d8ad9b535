import type { StoredAlarm } from '../../src/stores/index.ts'
import { scheduleOf } from '../../src/time/index.ts'
import type { SimulatedBackend } from './simulated-backend.ts'
import type { LoggedRow } from './store/tables.ts'
import type { World } from './world.ts'

const ENDS = ['alarm.fired', 'alarm.failed', 'schedule.ticked', 'timer.due_time_reached']

/** Occurrences that came due by a moment and have no end in the log, or more than one. */
export function wrongEndings({ backend }: World<SimulatedBackend>, until: number): string[] {
  const { alarms, events } = backend.database.tables
  return wrongEndingsOf(alarms.values(), events.values(), until)
}

/** A record of the log about an alarm. */
export type AlarmEvent = Pick<LoggedRow, 'type' | 'occurrence' | 'data' | 'alarm'>

/** The same, of these alarms and this log. */
export function wrongEndingsOf(
  alarms: readonly StoredAlarm[],
  events: Iterable<AlarmEvent>,
  until: number,
): string[] {
  const stories = Map.groupBy(events, ({ alarm }) => alarm)
  return alarms.flatMap((alarm) => {
    const story = stories.get(alarm.seq) ?? []
    const told = story.filter(({ type }) => ENDS.includes(type)).map(scheduledFor)
    const skipped = story.filter(({ type }) => type === 'alarm.skipped').map(skippedRun)
    return instantsOf(alarm, until).flatMap((at) => {
      const ends = told.filter((each) => each === at).length
      const skips = skipped.filter(({ from, to }) => from <= at && at <= to).length
      if (ends + skips === 1) return []
      return [
        `${alarm.id} (${alarm.rule.kind}) at ${new Date(at).toISOString()}: ended ${ends}, skipped ${skips}`,
      ]
    })
  })
}

/** The instants of an alarm's rule up to a moment. */
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
