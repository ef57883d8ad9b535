import { type Violation, violation } from './breach.ts'
import type { Entry } from './entries.ts'
import { type Facts, groupBy } from './facts.ts'
import type { Chain } from './model.ts'

type Report = Extract<Entry, { type: 'report' }>

/** The records written when a report is accepted. */
const ACCEPTED = new Set(['alarm.completed', 'alarm.failed', 'alarm.attempt_failed'])

/**
 * Promise recorded-once, for reports: an accepted success report is in the log, unless the wait for it had timed out.
 * Checked only if nothing else may have ended the wait: no other report on the occurrence and no other call on the alarm.
 */
export function reports(facts: Facts): Violation[] {
  const accepted = facts.evidence.entries.filter((entry) => entry.type === 'report')
  const chains = new Map(facts.chains.flatMap((chain) => [...chain.alarmIds].map((id) => [id, chain])))
  return [...groupBy(accepted, ({ occurrenceId }) => occurrenceId).values()].flatMap((all) => {
    const [first] = all
    const chain = chains.get(first!.alarmId)
    if (chain === undefined || isTouched(chain) || !all.every(({ succeeded }) => succeeded)) return []
    return isLost(first!, facts) ? [violation('report_lost', lostText(first!))] : []
  })
}

function isLost({ occurrenceId, at }: Report, { recordsOf, hadTime, endsMs }: Facts): boolean {
  const records = recordsOf.get(occurrenceId) ?? []
  // Another report, whose answer was lost, may have had a different result.
  if (records.some(({ type }) => ACCEPTED.has(type))) return false
  const timedOut = records.find(({ type }) => type === 'alarm.timed_out')
  return timedOut === undefined ? hadTime(at, endsMs) : timedOut.at > at
}

function isTouched({ asks, calls }: Chain): boolean {
  return asks.length > 1 || calls.some(({ kind, answer }) => kind === 'cancel' && answer !== 'no')
}

function lostText({ occurrenceId, at }: Report): string {
  return `${occurrenceId} was reported as done at ${at}, but the log has no record of it`
}
