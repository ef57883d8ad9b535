import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import type { Facts } from './facts.ts'
import { type AskCall, type Chain, mayEndPause, sameNameAsks } from './model.ts'

/** The last answered cancel or pause of an alarm, with its position in the ledger and the time of the answer. */
interface Stop {
  readonly outcome: 'cancelled' | 'firing' | 'paused'
  readonly index: number
  readonly at: number
  /** Occurrences that began since. */
  readonly began: Set<string>
}

/**
 * Promise cancel-wins. After a cancel answers `cancelled`, no delivery of that alarm begins. After it answers `firing`,
 * what was due may begin once, without retries or later occurrences. Between an answered pause and the next resume, only
 * what was due before the pause begins.
 */
export function cancelWins(facts: Facts): Violation[] {
  return [...beganAfter(facts), ...facts.chains.flatMap(retriedAfterCancel)]
}

/** An attempt that fails after the alarm was cancelled must not be retried. */
function retriedAfterCancel({ calls, records }: Chain): Violation[] {
  const last = calls.findLast(({ answer }) => answer !== 'no')
  if (last?.kind !== 'cancel' || last.answer !== 'yes') return []
  const { answeredAt = Number.POSITIVE_INFINITY } = last
  return records.flatMap(({ type, at, occurrenceId }) =>
    type === 'alarm.attempt_failed' && at > answeredAt
      ? [violation('after_cancel', `${occurrenceId} failed after its cancel and will be retried`)]
      : [],
  )
}

function beganAfter({ evidence, asks, recordsOf }: Facts): Violation[] {
  const found: Violation[] = []
  const stops = new Map<string, Stop>()
  for (const [index, entry] of evidence.entries.entries()) {
    if (entry.type === 'start') {
      const stop = stops.get(entry.alarmId)
      if (stop === undefined || isAskedSince(asks.get(entry.name), stop)) continue
      const wrong = broken(entry, stop, recordsOf.get(entry.occurrenceId) ?? [])
      if (wrong !== null) found.push(wrong)
      stop.began.add(entry.occurrenceId)
    } else if (entry.type === 'resuming') {
      if (stops.get(entry.alarmId)?.outcome === 'paused') stops.delete(entry.alarmId)
    } else if (entry.type === 'cancel' || entry.type === 'paused') {
      const { outcome, alarmId, at = Number.POSITIVE_INFINITY } = entry
      if (outcome !== 'ended' && outcome !== 'refused')
        stops.set(alarmId, { outcome, index, at, began: new Set() })
    }
  }
  return found
}

/** Whether the key was set again or the alarm rescheduled since. Both keep a pause, unless the alarm had ended. */
function isAskedSince(named: AskCall | undefined, { outcome, index }: Stop): boolean {
  const isNewer = (call: AskCall) => {
    if (call.index <= index || call.answer === 'no') return false
    const { calls } = call.chain
    return outcome !== 'paused' || mayEndPause(calls, calls.indexOf(call))
  }
  return named !== undefined && sameNameAsks(named).some(isNewer)
}

function broken(start: Start, { outcome, at, began }: Stop, records: readonly LogRecord[]): Violation | null {
  const { occurrenceId, scheduledFor } = start
  if (outcome === 'cancelled')
    return violation('after_cancel', `${occurrenceId} began after its cancel answered cancelled`)
  if (outcome === 'paused') {
    // A delivery in flight at the pause that failed since waits for the resume.
    const hasFailed = records.some(
      (record) => record.type === 'alarm.attempt_failed' && at < record.at && record.at < start.at,
    )
    if (scheduledFor <= at && !hasFailed) return null
    return violation('while_paused', `${occurrenceId} began while it was paused`)
  }
  if (scheduledFor > at)
    return violation('after_cancel', `${occurrenceId} was not due when its cancel answered firing`)
  if (began.has(occurrenceId))
    return violation('after_cancel', `${occurrenceId} was retried after its cancel answered firing`)
  return null
}
