import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import { type AskCall, asksOf, type Chain, replacedAt } from './model.ts'
import { isAmong } from './sorted.ts'

/**
 * Promise calendar-true: what begins was asked for, at an instant that its rule has, and that no later ask had taken from
 * it when it came.
 */
export function calendarTrue({ starts, asks, chains }: Facts): Violation[] {
  const found: Violation[] = []
  for (const { name, occurrenceId, scheduledFor } of starts) {
    const named = asks.get(name)
    const what = `${occurrenceId} (${name})`
    if (named === undefined)
      found.push(violation('phantom', `${what} was delivered, but nobody asked for it`))
    else
      found.push(...offCalendar(what, scheduledFor, asksOf(named, scheduledFor), named.ask.recurs === true))
  }
  for (const chain of chains) if (chain.asks.some(({ ask }) => ask.toLog)) found.push(...inTheLog(chain))
  return found
}

/** What goes to the log begins there. */
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
    const text = `${what} was delivered for ${scheduledFor}, which nobody asked for`
    return [violation(recurs ? 'off_calendar' : 'phantom', text)]
  }
  if (fitting.some((call) => scheduledFor <= replacedAt(call))) return []
  const text = `${what} was delivered for ${scheduledFor}, which had been moved at ${replacedAt(fitting.at(-1)!)}`
  return [violation('off_calendar', text)]
}
