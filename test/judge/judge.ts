import type { Ask, Start } from './entries.ts'
import type { Evidence, LogRecord } from './evidence.ts'
import { type Figures, tally } from './figures.ts'
import { obligations } from './obligations.ts'
import { excuseOf } from './repeats.ts'

/** What can be broken, each under the promise of design.md that it breaks. */
export type Breach =
  /** durable, at-least-once: acknowledged, due, neither delivered nor in the log as skipped. */
  | 'lost'
  /** never-early. */
  | 'early'
  /** at-least-once: delivered again with no fault on the first delivery. */
  | 'duplicate'
  /** A repeated delivery whose attempt does not count the one before. */
  | 'uncounted'
  /** cancel-wins. */
  | 'after_cancel'
  /** recorded-once. */
  | 'unrecorded'
  | 'recorded_twice'
  /** A transactional handler's row is missing, or there twice, or there without its settle. */
  | 'effect'
  /** Delivered, but nobody asked for it. */
  | 'phantom'
  /** Still waiting after everything was drained. */
  | 'pending'
  /** fenced: the store accepted what a former owner wrote. */
  | 'former_owner'
  /** An error that no fault explains. */
  | 'trouble'

/** One broken promise. */
export interface Violation {
  readonly breach: Breach
  readonly text: string
}

/** What the judge found. */
export interface Verdict {
  readonly violations: readonly Violation[]
  readonly figures: Figures
}

const DELIVERED = new Set(['alarm.fired', 'timer.due_time_reached', 'schedule.ticked'])
const REPORTED = new Set(['alarm.completed', 'alarm.timed_out'])

/** Holds what was written down against what the store says. Knows no store: PostgreSQL and the simulator use it too. */
export function judge(evidence: Evidence): Verdict {
  const found: Violation[] = []
  const say = (breach: Breach, text: string) => found.push({ breach, text })
  const asks = new Map<string, Ask>()
  for (const entry of evidence.entries) if (entry.type === 'ask') asks.set(entry.name, entry)
  const starts = evidence.entries.filter((entry) => entry.type === 'start')
  const records = groupBy(evidence.log, (record) => record.occurrenceId)

  for (const text of obligations(evidence, asks)) say('lost', text)
  judgeStarts(starts, asks, say)
  judgeTwins(evidence, starts, asks, say)
  judgeRepeats(evidence, starts, records, say)
  judgeCancels(evidence, say)
  judgeRecords(evidence, starts, asks, records, say)
  judgeEffects(evidence, starts, asks, records, say)
  for (const alarmId of evidence.pending) say('pending', `${alarmId} still waits after the drain`)
  for (const text of evidence.formerOwners ?? []) say('former_owner', text)
  for (const entry of evidence.entries)
    if (entry.type === 'trouble') say('trouble', `run ${entry.run}: ${entry.text}`)
  return { violations: found, figures: tally(evidence) }
}

type Say = (breach: Breach, text: string) => void

function judgeStarts(starts: readonly Start[], asks: ReadonlyMap<string, Ask>, say: Say): void {
  for (const start of starts) {
    const { name, occurrenceId, at, scheduledFor } = start
    if (at < scheduledFor) say('early', `${occurrenceId} began ${scheduledFor - at} ms before its instant`)
    const ask = asks.get(name)
    if (ask === undefined) say('phantom', `${occurrenceId} (${name}) was delivered, but nobody asked for it`)
    else if (!ask.instants.includes(scheduledFor))
      say('phantom', `${occurrenceId} (${name}) was delivered for ${scheduledFor}, which nobody asked for`)
  }
}

/** A set that was repeated after a lost answer makes a second alarm, which nobody was told of. */
function judgeTwins(
  { entries }: Evidence,
  starts: readonly Start[],
  asks: ReadonlyMap<string, Ask>,
  say: Say,
): void {
  const told = new Map(
    entries.flatMap((entry) => (entry.type === 'set' ? [[entry.name, entry.alarmId]] : [])),
  )
  for (const { name, alarmId, occurrenceId } of starts) {
    const known = told.get(name)
    // A key that was set again may have been another's alarm all along.
    if (known === undefined) told.set(name, alarmId)
    else if (known !== alarmId && asks.get(name)?.key === null)
      say('phantom', `${occurrenceId} (${name}) was delivered, but the alarm set is ${known}`)
  }
}

function judgeRepeats(
  { entries }: Evidence,
  starts: readonly Start[],
  records: ReadonlyMap<string, readonly LogRecord[]>,
  say: Say,
): void {
  const excuse = excuseOf(entries)
  for (const [occurrenceId, deliveries] of groupBy(starts, (start) => start.occurrenceId)) {
    const recordedAt = records.get(occurrenceId)?.find(isEnd)?.place ?? null
    for (const [i, later] of deliveries.entries()) {
      const earlier = deliveries[i - 1]
      if (earlier === undefined) continue
      const pair = `${occurrenceId}: attempt ${earlier.attempt} in run ${earlier.run}, then ${later.attempt} in run ${later.run}`
      if (later.attempt <= earlier.attempt) say('uncounted', pair)
      const fault = excuse(earlier, later, recordedAt)
      if (fault !== null) say('duplicate', `${pair}, ${fault}`)
    }
  }
}

function judgeCancels({ entries }: Evidence, say: Say): void {
  const askedAt = new Map<string, number>()
  const cancelledAt = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'ask') askedAt.set(entry.name, index)
    if (entry.type === 'cancel' && entry.outcome === 'cancelled') cancelledAt.set(entry.alarmId, index)
    if (entry.type !== 'start') continue
    const cancelled = cancelledAt.get(entry.alarmId)
    // A key may have been set again since: that ask is younger than the cancel.
    if (cancelled !== undefined && (askedAt.get(entry.name) ?? 0) < cancelled)
      say('after_cancel', `${entry.occurrenceId} began after its cancel had answered cancelled`)
  }
}

function judgeRecords(
  evidence: Evidence,
  starts: readonly Start[],
  asks: ReadonlyMap<string, Ask>,
  records: ReadonlyMap<string, readonly LogRecord[]>,
  say: Say,
): void {
  const awaited = new Set(
    starts.flatMap(({ name, occurrenceId }) => (asks.get(name)?.ack === 'report' ? occurrenceId : [])),
  )
  for (const [occurrenceId, all] of records) {
    // With `ack: report` a failure after the delivery is the report's record, not a second one of the delivery.
    const isReport = ({ type }: LogRecord) =>
      REPORTED.has(type) || (type === 'alarm.failed' && awaited.has(occurrenceId) && all.some(isDelivered))
    const reports = all.filter(isReport).length
    const ends = all.filter((record) => isEnd(record) && !isReport(record)).length
    if (ends > 1) say('recorded_twice', `${occurrenceId} has ${ends} records of how it ended`)
    if (reports > 1) say('recorded_twice', `${occurrenceId} has ${reports} records of its report`)
  }
  const cancelled = new Set(
    evidence.entries.flatMap((entry) => (entry.type === 'cancelling' ? entry.alarmId : [])),
  )
  for (const [occurrenceId, [start]] of groupBy(starts, (each) => each.occurrenceId)) {
    const all = records.get(occurrenceId) ?? []
    const ask = asks.get(start!.name)
    if (!all.some(isEnd)) say('unrecorded', `${occurrenceId} was delivered and the log does not say so`)
    // A cancel, or a key set again, ends the wait for a report.
    else if (ask?.ack === 'report' && ask.key === null && !cancelled.has(start!.alarmId) && !isReported(all))
      say('unrecorded', `${occurrenceId} was delivered and the log has neither its report nor its time-out`)
  }
}

function judgeEffects(
  evidence: Evidence,
  starts: readonly Start[],
  asks: ReadonlyMap<string, Ask>,
  records: ReadonlyMap<string, readonly LogRecord[]>,
  say: Say,
): void {
  const rows = groupBy(evidence.effects, (occurrenceId) => occurrenceId)
  const transactional = new Set(
    starts.flatMap(({ name, occurrenceId }) => (asks.get(name)?.effect ? occurrenceId : [])),
  )
  for (const occurrenceId of transactional) {
    const count = rows.get(occurrenceId)?.length ?? 0
    const fired = records.get(occurrenceId)?.some(isDelivered) ?? false
    if (count !== (fired ? 1 : 0))
      say('effect', `${occurrenceId} has ${count} rows and is ${fired ? '' : 'not '}recorded as fired`)
  }
  for (const occurrenceId of rows.keys())
    if (!transactional.has(occurrenceId)) say('effect', `${occurrenceId} has a row, but was never delivered`)
}

function isDelivered({ type }: LogRecord): boolean {
  return DELIVERED.has(type)
}

function isEnd(record: LogRecord): boolean {
  return isDelivered(record) || record.type === 'alarm.failed' || record.type === 'alarm.skipped'
}

function isReported(all: readonly LogRecord[]): boolean {
  return all.some(({ type }) => REPORTED.has(type) || type === 'alarm.failed' || type === 'alarm.skipped')
}

function groupBy<T>(items: readonly T[], name: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(name(item))
    if (group === undefined) groups.set(name(item), [item])
    else group.push(item)
  }
  return groups
}
