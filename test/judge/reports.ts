import { type Violation, violation } from './breach.ts'
import type { Entry } from './entries.ts'
import { type Facts, groupBy } from './facts.ts'
import type { Chain } from './model.ts'

type Report = Extract<Entry, { type: 'report' }>

/** By these the log says that a report, or another, was taken in. */
const TAKEN_IN = new Set(['alarm.completed', 'alarm.failed', 'alarm.attempt_failed'])

/**
 * Promise recorded-once, for reports: one that was taken in as good is in the log, unless the wait for it had ended. Only
 * where nothing else may have ended the wait: no other report of the occurrence, and no other call about the alarm.
 */
export function reports(facts: Facts): Violation[] {
  const taken = facts.evidence.entries.filter((entry) => entry.type === 'report')
  const chains = new Map(facts.chains.flatMap((chain) => [...chain.alarmIds].map((id) => [id, chain])))
  return [...groupBy(taken, ({ occurrenceId }) => occurrenceId).values()].flatMap((all) => {
    const [first] = all
    const chain = chains.get(first!.alarmId)
    if (chain === undefined || isTouched(chain) || !all.every(({ isGood }) => isGood)) return []
    return isLost(first!, facts) ? [violation('report_lost', lostText(first!))] : []
  })
}

function isLost({ occurrenceId, at }: Report, { recordsOf, hadTime, endsMs }: Facts): boolean {
  const records = recordsOf.get(occurrenceId) ?? []
  // Another report, whose answer was lost, may have said otherwise.
  if (records.some(({ type }) => TAKEN_IN.has(type))) return false
  const timedOut = records.find(({ type }) => type === 'alarm.timed_out')
  return timedOut === undefined ? hadTime(at, endsMs) : timedOut.at > at
}

function isTouched({ asks, calls }: Chain): boolean {
  return asks.length > 1 || calls.some(({ kind, answer }) => kind === 'cancel' && answer !== 'no')
}

function lostText({ occurrenceId, at }: Report): string {
  return `${occurrenceId} was reported as done at ${at}, and the log does not say so`
}
