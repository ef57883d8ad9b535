import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise never-early: no delivery begins before its instant, and no record appears before it if the log is the target. */
export function neverEarly({ starts, chains }: Facts): Violation[] {
  const found: Violation[] = []
  const check = (occurrenceId: string, at: number, scheduledFor: number) => {
    if (at < scheduledFor)
      found.push(violation('early', `${occurrenceId} began ${scheduledFor - at} ms before its instant`))
  }
  for (const { occurrenceId, at, scheduledFor } of starts) check(occurrenceId, at, scheduledFor)
  for (const { asks, records } of chains) {
    if (!asks.some(({ ask }) => ask.toLog)) continue
    for (const { type, occurrenceId, at, scheduledFor } of records)
      if (type === 'timer.due_time_reached' || type === 'schedule.ticked')
        check(occurrenceId, at, scheduledFor)
  }
  return found
}
