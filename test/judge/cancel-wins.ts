import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import type { Facts } from './facts.ts'
import { type AskCall, type Chain, lineOf } from './model.ts'

/** What the user's last word on an alarm was, and where in the ledger and when it was answered. */
interface Stop {
  readonly word: 'cancelled' | 'firing' | 'parked'
  readonly index: number
  readonly at: number
  /** Occurrences that began since. */
  readonly began: Set<string>
}

/**
 * Promise cancel-wins: when a cancel has answered `cancelled`, nothing of that alarm begins. When it has answered `firing`,
 * what was due may begin, once; it is not tried again and nothing follows. While the user's own pause is answered and
 * no resume is under way, only what was due before it begins.
 */
export function cancelWins(facts: Facts): Violation[] {
  return [...beganAfter(facts), ...facts.chains.flatMap(toBeTriedAgain)]
}

/** What failed after the last word on its alarm was a cancel must not be put in the queue again. */
function toBeTriedAgain({ calls, records }: Chain): Violation[] {
  const last = calls.findLast(({ answer }) => answer !== 'no')
  if (last?.kind !== 'cancel' || last.answer !== 'yes') return []
  const { answeredAt = Number.POSITIVE_INFINITY } = last
  return records.flatMap(({ type, at, occurrenceId }) =>
    type === 'alarm.attempt_failed' && at > answeredAt
      ? [violation('after_cancel', `${occurrenceId} failed after its cancel and is to be tried again`)]
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
    } else if (entry.type === 'unparking') {
      if (stops.get(entry.alarmId)?.word === 'parked') stops.delete(entry.alarmId)
    } else if (entry.type === 'cancel' || entry.type === 'parked') {
      const { outcome: word, alarmId, at = Number.POSITIVE_INFINITY } = entry
      if (word !== 'ended' && word !== 'refused') stops.set(alarmId, { word, index, at, began: new Set() })
    }
  }
  return found
}

/** A key may have been set again since, or the alarm have been moved; a pause outlasts a move. */
function isAskedSince(named: AskCall | undefined, { word, index }: Stop): boolean {
  const isNewer = (call: AskCall) =>
    call.index > index && call.answer !== 'no' && (word !== 'parked' || call.ask.alarmId === undefined)
  return named !== undefined && lineOf(named).some(isNewer)
}

function broken(start: Start, { word, at, began }: Stop, records: readonly LogRecord[]): Violation | null {
  const { occurrenceId, scheduledFor } = start
  if (word === 'cancelled')
    return violation('after_cancel', `${occurrenceId} began after its cancel had answered cancelled`)
  if (word === 'parked') {
    // What was in flight when the pause came, and failed since, waits for the resume like the rest.
    const hasFailed = records.some(
      (record) => record.type === 'alarm.attempt_failed' && at < record.at && record.at < start.at,
    )
    if (scheduledFor <= at && !hasFailed) return null
    return violation('while_parked', `${occurrenceId} began while it was paused`)
  }
  if (scheduledFor > at)
    return violation('after_cancel', `${occurrenceId} was not due when its cancel answered firing`)
  if (began.has(occurrenceId))
    return violation('after_cancel', `${occurrenceId} was tried again after its cancel had answered firing`)
  return null
}
