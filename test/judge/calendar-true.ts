import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import { type AskCall, asksAt, type Chain, replacedAt } from './model.ts'
import { isAmong } from './sorted.ts'

/**
 * Promise calendar-true: every delivery was requested, at an instant of its rule, and no later ask had replaced that
 * instant before it came.
 */
export function calendarTrue({ starts, asks, chains }: Facts): Violation[] {
  const found: Violation[] = []
  for (const { name, occurrenceId, scheduledFor } of starts) {
    const named = asks.get(name)
    const what = `${occurrenceId} (${name})`
    if (named === undefined) found.push(violation('phantom', `${what} was delivered, but never requested`))
    else
      found.push(...offCalendar(what, scheduledFor, asksAt(named, scheduledFor), named.ask.recurs === true))
  }
  for (const chain of chains) if (chain.asks.some(({ ask }) => ask.toLog)) found.push(...inTheLog(chain))
  return found
}

/** If the log is the target, the record is the delivery. */
function inTheLog({ asks, records }: Chain): Violation[] {
  return records.flatMap(({ type, occurrenceId, scheduledFor }) => {
    if (type !== 'timer.due_time_reached' && type !== 'schedule.ticked') return []
    const fitting = asks.filter(({ ask, answer }) => answer !== 'no' && isAmong(ask.instants, scheduledFor))
    return offCalendar(occurrenceId, scheduledFor, fitting, type === 'schedule.ticked')
  })
}

function offCalendar(
  what: string,
  scheduledFor: number,
  fitting: readonly AskCall[],
  recurs: boolean,
): Violation[] {
  if (fitting.length === 0) {
    const text = `${what} was delivered for ${scheduledFor}, which was never requested`
    return [violation(recurs ? 'off_calendar' : 'phantom', text)]
  }
  if (fitting.some((call) => scheduledFor <= replacedAt(call))) return []
  const text = `${what} was delivered for ${scheduledFor}, which had been rescheduled at ${replacedAt(fitting.at(-1)!)}`
  return [violation('off_calendar', text)]
}
