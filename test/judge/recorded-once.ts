import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import { type Facts, isDelivered, isEnd, isReport } from './facts.ts'
import { type Chain, lastCallAt, parkedSpans } from './model.ts'
import { countUpTo } from './sorted.ts'

/** Promise recorded-once: every occurrence ends as exactly one record in the log. */
export function recordedOnce(facts: Facts): Violation[] {
  return [...twice(facts), ...facts.chains.flatMap(coveredTwice), ...missing(facts)]
}

function twice({ recordsOf, startsOf, asks }: Facts): Violation[] {
  const found: Violation[] = []
  for (const [occurrenceId, all] of recordsOf) {
    if (all.length === 1) continue
    const [start] = startsOf.get(occurrenceId) ?? []
    const awaits = start !== undefined && asks.get(start.name)?.ask.ack === 'report'
    // With `ack: report` a failure after the delivery is the report's record, not a second one of the delivery.
    const isOfReport = (record: LogRecord) =>
      isReport(record) || (record.type === 'alarm.failed' && awaits && all.some(isDelivered))
    const reports = all.filter(isOfReport).length
    const ends = all.filter((record) => isEnd(record) && !isOfReport(record)).length
    if (ends > 1)
      found.push(violation('recorded_twice', `${occurrenceId} has ${ends} records of how it ended`))
    if (reports > 1)
      found.push(violation('recorded_twice', `${occurrenceId} has ${reports} records of its report`))
  }
  return found
}

/** Where an alarm was asked for once only: an instant within a run of skipped ones has no other record. */
function coveredTwice({ asks, records }: Chain): Violation[] {
  const [call, another] = asks
  if (call === undefined || another !== undefined || call.ask.instants.length < 2) return []
  const { instants, name } = call.ask
  const changes = new Int32Array(instants.length + 1)
  let hasRuns = false
  for (const record of records) {
    if (!isEnd(record) || (record.type === 'alarm.failed' && call.ask.ack === 'report')) continue
    const { scheduledFor, skippedTo = scheduledFor } = record
    hasRuns ||= skippedTo > scheduledFor
    changes[countUpTo(instants, scheduledFor - 1)]! += 1
    changes[countUpTo(instants, skippedTo)]! -= 1
  }
  if (!hasRuns) return []
  let covered = 0
  return instants.flatMap((instant, i) => {
    covered += changes[i]!
    if (covered < 2) return []
    return [violation('recorded_twice', `${name} has ${covered} records that say how ${instant} ended`)]
  })
}

function missing(facts: Facts): Violation[] {
  const found: Violation[] = []
  const { prunedBefore = Number.NEGATIVE_INFINITY } = facts.evidence
  for (const [occurrenceId, starts] of facts.startsOf) {
    if (starts[0]!.scheduledFor < prunedBefore) continue
    const records = facts.recordsOf.get(occurrenceId) ?? []
    if (!records.some(isEnd)) {
      if (wasToEnd(starts, records, facts))
        found.push(violation('unrecorded', `${occurrenceId} was delivered and the log does not say so`))
    } else if (lacksReport(starts[0]!, records, facts)) {
      const text = `${occurrenceId} was delivered and the log has neither its report nor its time-out`
      found.push(violation('unrecorded', text))
    }
  }
  return found
}

/** Whether nothing but a fault of the store can have kept it from its end: it is not tried again, nor paused, nor young. */
function wasToEnd(starts: readonly Start[], records: readonly LogRecord[], facts: Facts): boolean {
  if (facts.evidence.until === undefined) return true
  let last = Number.NEGATIVE_INFINITY
  for (const { at } of starts) last = Math.max(last, at)
  for (const { retryAt = Number.POSITIVE_INFINITY } of records) last = Math.max(last, retryAt)
  const chain = facts.asks.get(starts[0]!.name)?.chain
  if (chain === undefined) return false
  if (parkedSpans(chain).at(-1)?.to === Number.POSITIVE_INFINITY) return false
  return facts.hadTime(Math.max(last, lastCallAt(chain)), facts.endsMs)
}

function lacksReport(start: Start, records: readonly LogRecord[], facts: Facts): boolean {
  const call = facts.asks.get(start.name)
  if (call === undefined || call.ask.ack !== 'report') return false
  // A cancel, a move, or a key set again ends the wait for a report.
  const isTouched = call.ask.key !== null || call.chain.calls.some(isOther)
  if (isTouched || records.some((record) => isReport(record) || endsReport(record))) return false
  if (facts.evidence.until === undefined) return true
  // A report of failure leads to another try, and each is waited for anew.
  if (call.ask.reportMs === undefined || records.some(({ type }) => type === 'alarm.attempt_failed'))
    return false
  const deliveredAt = records.find(isDelivered)!.at
  return facts.hadTime(deliveredAt + call.ask.reportMs, facts.promptMs)
}

function isOther({ kind, answer }: Chain['calls'][number], place: number): boolean {
  return answer !== 'no' && (kind === 'cancel' || (kind === 'ask' && place > 0))
}

function endsReport({ type }: LogRecord): boolean {
  return type === 'alarm.failed' || type === 'alarm.skipped'
}
