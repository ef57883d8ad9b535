import type { Evidence, LogRecord } from './evidence.ts'
import { type Facts, isDelivered, isEnd, isReport } from './facts.ts'
import { type AskCall, type Chain, lastCallAt, parkedSpans } from './model.ts'
import type { Span } from './sorted.ts'

/** What is to be known of a chain before one can say what it owes. */
export interface Owing {
  readonly parked: readonly Span[]
  /** The last moment at which anything is known to have happened to the alarm. */
  readonly lastSign: number
  readonly lastCallAt: number
  /** Whether it is paused at the end, or an occurrence of it is still open: then no more can be asked of it. */
  readonly isHeldUp: boolean
}

/** Prepares what a chain owes. */
export function owingOf(chain: Chain, facts: Facts): Owing {
  const parked = parkedSpans(chain)
  const isParked = parked.at(-1)?.to === Number.POSITIVE_INFINITY
  let lastSign = Number.NEGATIVE_INFINITY
  for (const { at } of chain.starts) lastSign = Math.max(lastSign, at)
  for (const { at } of chain.records) lastSign = Math.max(lastSign, at)
  const isHeldUp = isParked || (facts.evidence.until !== undefined && hasOpen(chain, facts))
  return { parked, lastSign, lastCallAt: lastCallAt(chain), isHeldUp }
}

/** What is under way, or waits for its report, may hold up what comes after it; that it ends is judged elsewhere. */
function hasOpen({ asks, starts }: Chain, { recordsOf }: Facts): boolean {
  if (asks.every(({ ask }) => ask.instants.length < 2)) return false
  const awaits = asks.some(({ ask }) => ask.ack === 'report')
  const ends = (record: LogRecord) => isEnd(record) && !(awaits && isDelivered(record))
  return starts.some(({ occurrenceId }) => {
    const records = recordsOf.get(occurrenceId) ?? []
    return !records.some((record) => ends(record) || isReport(record))
  })
}

/**
 * The instants that an ask owes if it stands: all that come after it was surely in force and had time to begin, and
 * whatever lies before one that was dealt with, since a rule's instants are dealt with in order.
 */
export function owedOf(call: AskCall, owing: Owing, facts: Facts): readonly number[] {
  const { ask, answeredAt = Number.NEGATIVE_INFINITY, firstSure, lastSure } = call
  const { jitterMs = 0, instants } = ask
  const { hadTime, promptMs, evidence } = facts
  const from = inForceFrom(call, facts)
  const busyTo = Math.max(answeredAt, owing.lastSign, owing.lastCallAt)
  return instants.filter((instant) => {
    if (instant <= from && instant < firstSure) return false
    if (isOff(instant, call, owing, evidence)) return false
    if (instant <= lastSure) return true
    return !owing.isHeldUp && hadTime(Math.max(instant + jitterMs, busyTo), promptMs)
  })
}

/** The instants of an ask that lie before one of its own that was dealt with. */
export function gapsOf(call: AskCall, owing: Owing, evidence: Evidence): readonly number[] {
  const { ask, answer, answeredAt = Number.POSITIVE_INFINITY, firstSure, lastSure } = call
  const from = ask.recurs !== true ? Number.NEGATIVE_INFINITY : answer === 'yes' ? answeredAt : firstSure
  return ask.instants.filter((instant) => {
    if (instant >= lastSure || (instant <= from && instant < firstSure)) return false
    return !isOff(instant, call, owing, evidence)
  })
}

/** Instants up to this one are no promise of the ask. */
function inForceFrom({ ask, answer, answeredAt }: AskCall, { calmAt, promptMs }: Facts): number {
  if (ask.recurs !== true) return Number.NEGATIVE_INFINITY
  if (answer === 'yes') return answeredAt ?? Number.POSITIVE_INFINITY
  // Once all is calm, a call that was never answered has been written, or never will be.
  return calmAt === null ? Number.POSITIVE_INFINITY : calmAt + promptMs
}

/** Whether an instant of a recurring ask fell into its user's pause; a once alarm comes later then. */
function isOff(instant: number, { ask }: AskCall, { parked }: Owing, { prunedBefore }: Evidence): boolean {
  if (prunedBefore !== undefined && instant < prunedBefore) return true
  if (ask.recurs !== true && ask.instants.length === 1) return false
  return parked.some(({ from, to }) => from <= instant && instant <= to)
}
