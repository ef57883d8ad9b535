import { Chains } from './chains.ts'
import type { Entry, Start } from './entries.ts'
import type { Evidence, LogRecord } from './evidence.ts'
import { type AskCall, type Chain, markHandled } from './model.ts'
import { type Span, Spans } from './sorted.ts'

const PROMPT_MS = 10_000
const ENDS_MS = 10_000
/** Above this share of its slots, a process may reserve the rest for other tenants. */
const FULL = 3 / 4

const DELIVERED = new Set(['alarm.fired', 'timer.due_time_reached', 'schedule.ticked'])

/** The indexed evidence that every checker gets. */
export interface Facts {
  readonly evidence: Evidence
  readonly starts: readonly Start[]
  readonly startsOf: ReadonlyMap<string, readonly Start[]>
  readonly recordsOf: ReadonlyMap<string, readonly LogRecord[]>
  readonly asks: ReadonlyMap<string, AskCall>
  readonly chains: readonly Chain[]
  /** When the last fault ended, or null if unknown. */
  readonly calmAt: number | null
  readonly promptMs: number
  readonly endsMs: number
  /** When a process may have used all its slots, so that due deliveries had to wait. */
  readonly full: Spans<Span>
  /** Whether an event possible from `from` on had `ms` to happen before the run ended. */
  readonly hadTime: (from: number, ms: number) => boolean
}

/** Indexes the evidence. */
export function factsOf(evidence: Evidence): Facts {
  const { entries, log, concurrency, until } = evidence
  const chains = new Chains()
  const starts: Start[] = []
  let calmAt: number | null = null
  let hasFaults = false
  for (const [index, entry] of entries.entries()) {
    chains.read(entry, index)
    if (entry.type === 'start') starts.push(entry)
    else if (entry.type === 'calm') calmAt = entry.at
    else if (isFault(entry)) hasFaults = true
  }
  for (const record of log) chains.record(record)
  for (const chain of chains.all) markHandledByRecords(chain)
  const full = new Spans(concurrency === undefined ? [] : fullSpans(entries, concurrency))
  const calmFrom = calmAt ?? (hasFaults ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)
  return {
    evidence,
    starts,
    startsOf: groupBy(starts, ({ occurrenceId }) => occurrenceId),
    recordsOf: groupBy(log, ({ occurrenceId }) => occurrenceId),
    asks: chains.asks,
    chains: chains.all,
    calmAt,
    promptMs: evidence.promptMs ?? PROMPT_MS,
    endsMs: evidence.endsMs ?? ENDS_MS,
    full,
    hadTime: (from, ms) => {
      if (until === undefined) return true
      const start = Math.max(from, calmFrom)
      return start + ms <= until && !full.some(start, until)
    },
  }
}

/** Whether a record says that an occurrence was delivered. */
export function isDelivered({ type }: LogRecord): boolean {
  return DELIVERED.has(type)
}

/** Whether a record is about the report of an earlier delivery. */
export function isReport({ type }: LogRecord): boolean {
  return type === 'alarm.completed' || type === 'alarm.timed_out'
}

/** Whether a record ends an occurrence. */
export function isEnd(record: LogRecord): boolean {
  return isDelivered(record) || record.type === 'alarm.failed' || record.type === 'alarm.skipped'
}

/** Groups items by name, keeping their order. */
export function groupBy<T>(items: readonly T[], name: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(name(item))
    if (group === undefined) groups.set(name(item), [item])
    else group.push(item)
  }
  return groups
}

function isFault({ type }: Entry): boolean {
  return type === 'killed' || type === 'process_paused' || type === 'broken'
}

/** If an alarm has a single ask, all its records are about that ask. */
function markHandledByRecords({ asks, records }: Chain): void {
  const [call, another] = asks
  if (call === undefined || another !== undefined) return
  for (const record of records) {
    if (!isEnd(record)) continue
    markHandled(call, record.scheduledFor)
    if (record.skippedTo !== undefined) markHandled(call, record.skippedTo)
  }
}

/** From a start that may have used a run's last free slot to the run's next start, or to its end. */
function fullSpans(entries: readonly Entry[], concurrency: number): Span[] {
  const spans: Span[] = []
  const since = new Map<number, number>()
  const over = new Set<number>()
  const end = (run: number, to: number) => {
    const from = since.get(run)
    if (from !== undefined) spans.push({ from, to })
    since.delete(run)
  }
  for (const entry of entries) {
    if (entry.type === 'killed' && entry.at !== undefined) end(entry.run, entry.at)
    else if (entry.type === 'killed' || entry.type === 'closed') over.add(entry.run)
    if (entry.type !== 'start') continue
    for (const run of over) end(run, entry.at)
    over.clear()
    end(entry.run, entry.at)
    if ((entry.running ?? 0) >= concurrency * FULL) since.set(entry.run, entry.at)
  }
  for (const from of since.values()) spans.push({ from, to: Number.POSITIVE_INFINITY })
  return spans
}
