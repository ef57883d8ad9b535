import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import { type Facts, isDelivered, isEnd, isReport } from './facts.ts'
import { type Chain, lastCallAt, pausedSpans } from './model.ts'
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
    // With `ack: report`, a failure after the delivery is the record of the report.
    const isOfReport = (record: LogRecord) =>
      isReport(record) || (record.type === 'alarm.failed' && awaits && all.some(isDelivered))
    const reports = all.filter(isOfReport).length
    const ends = all.filter((record) => isEnd(record) && !isOfReport(record)).length
    if (ends > 1) found.push(violation('recorded_twice', `${occurrenceId} has ${ends} records that end it`))
    if (reports > 1)
      found.push(violation('recorded_twice', `${occurrenceId} has ${reports} records of its report`))
  }
  return found
}

/** For alarms with a single ask: an instant inside a skipped range has no other record. */
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
    return [violation('recorded_twice', `${name} has ${covered} records that end ${instant}`)]
  })
}

function missing(facts: Facts): Violation[] {
  const found: Violation[] = []
  const { prunedBefore = Number.NEGATIVE_INFINITY } = facts.evidence
  for (const [occurrenceId, starts] of facts.startsOf) {
    if (starts[0]!.scheduledFor < prunedBefore) continue
    const records = facts.recordsOf.get(occurrenceId) ?? []
    if (!records.some(isEnd)) {
      if (shouldHaveEnded(starts, records, facts))
        found.push(violation('unrecorded', `${occurrenceId} was delivered, but the log has no record of it`))
    } else if (lacksReport(starts[0]!, records, facts)) {
      const text = `${occurrenceId} was delivered, but the log has neither its report nor its timeout`
      found.push(violation('unrecorded', text))
    }
  }
  return found
}

/** Whether the occurrence should have ended: no retry is pending, it is not paused, and it had enough time. */
function shouldHaveEnded(starts: readonly Start[], records: readonly LogRecord[], facts: Facts): boolean {
  if (facts.evidence.until === undefined) return true
  let last = Number.NEGATIVE_INFINITY
  for (const { at } of starts) last = Math.max(last, at)
  for (const { retryAt = Number.POSITIVE_INFINITY } of records) last = Math.max(last, retryAt)
  const chain = facts.asks.get(starts[0]!.name)?.chain
  if (chain === undefined) return false
  if (pausedSpans(chain).at(-1)?.to === Number.POSITIVE_INFINITY) return false
  return facts.hadTime(Math.max(last, lastCallAt(chain)), facts.endsMs)
}

function lacksReport(start: Start, records: readonly LogRecord[], facts: Facts): boolean {
  const call = facts.asks.get(start.name)
  if (call === undefined || call.ask.ack !== 'report') return false
  // A cancel, a move, or a key set again ends the wait for a report.
  const isTouched = call.ask.key !== null || call.chain.calls.some(endsWait)
  if (isTouched || records.some((record) => isReport(record) || endsReport(record))) return false
  if (facts.evidence.until === undefined) return true
  // A failure report leads to another attempt with its own report timeout.
  if (call.ask.reportMs === undefined || records.some(({ type }) => type === 'alarm.attempt_failed'))
    return false
  const deliveredAt = records.find(isDelivered)!.at
  return facts.hadTime(deliveredAt + call.ask.reportMs, facts.promptMs)
}

function endsWait({ kind, answer }: Chain['calls'][number], order: number): boolean {
  return answer !== 'no' && (kind === 'cancel' || (kind === 'ask' && order > 0))
}

function endsReport({ type }: LogRecord): boolean {
  return type === 'alarm.failed' || type === 'alarm.skipped'
}
