import type { Evidence, LogRecord } from './evidence.ts'
import { type Facts, isDelivered, isEnd, isReport } from './facts.ts'
import { type AskCall, type Chain, lastCallAt, pausedSpans } from './model.ts'
import type { Span } from './sorted.ts'

/** A process's clock may lag, but is never ahead. */
const CLOCK_LAG_MS = 5_000

/** The state of a chain that decides which instants it owes. */
export interface ChainState {
  readonly paused: readonly Span[]
  /** When the last known event of the alarm happened. */
  readonly lastActivity: number
  readonly lastCallAt: number
  /** Whether it is paused at the end or has an open occurrence. Then later instants are not owed. */
  readonly isBlocked: boolean
}

/** Computes the state of a chain. */
export function chainStateOf(chain: Chain, facts: Facts): ChainState {
  const paused = pausedSpans(chain)
  const isPaused = paused.at(-1)?.to === Number.POSITIVE_INFINITY
  let lastActivity = Number.NEGATIVE_INFINITY
  for (const { at } of chain.starts) lastActivity = Math.max(lastActivity, at)
  for (const { at } of chain.records) lastActivity = Math.max(lastActivity, at)
  const isBlocked = isPaused || (facts.evidence.until !== undefined && hasOpen(chain, facts))
  return { paused, lastActivity, lastCallAt: lastCallAt(chain), isBlocked }
}

/** An open occurrence may delay later ones. Another check requires that it ends. */
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
 * The instants that a current ask owes: those after it was certainly in force that had time to begin, and those before a
 * handled instant, because a rule's instants are handled in order.
 */
export function owedOf(call: AskCall, state: ChainState, facts: Facts): readonly number[] {
  const { ask, answeredAt = Number.NEGATIVE_INFINITY, firstHandled, lastHandled } = call
  const { jitterMs = 0, instants } = ask
  const { hadTime, promptMs, evidence } = facts
  const from = inForceFrom(call, facts)
  const busyTo = Math.max(answeredAt, state.lastActivity, state.lastCallAt)
  return instants.filter((instant) => {
    if (instant <= from && instant < firstHandled) return false
    if (isExempt(instant, call, state, evidence)) return false
    if (instant <= lastHandled) return true
    return !state.isBlocked && hadTime(Math.max(instant + jitterMs, busyTo), promptMs)
  })
}

/**
 * The instants of an ask before one of its instants that was handled, and those that were due when it was replaced. The latter
 * are delivered in any order, so an alarm that is paused in the end, or had no time, may still have to deliver some.
 */
export function gapsOf(call: AskCall, state: ChainState, facts: Facts): readonly number[] {
  const { ask, answer, answeredAt = Number.POSITIVE_INFINITY, firstHandled, lastHandled } = call
  const from = ask.recurs !== true ? Number.NEGATIVE_INFINITY : answer === 'yes' ? answeredAt : firstHandled
  const isReplaced = ask.recurs === true && call.order + 1 < call.chain.asks.length
  if (isReplaced && (state.isBlocked || !facts.hadTime(state.lastCallAt, facts.endsMs))) return []
  const to = Math.max(lastHandled - 1, settledTo(call, facts))
  return ask.instants.filter((instant) => {
    if (instant > to || (instant <= from && instant < firstHandled)) return false
    return !isExempt(instant, call, state, facts.evidence)
  })
}

/**
 * When a recurring ask is replaced, what was due is settled, and ends as a record. The clock of the process that replaces it
 * may lag.
 */
function settledTo({ chain, index, ask }: AskCall, { evidence }: Facts): number {
  const { clockLagMs = CLOCK_LAG_MS } = evidence
  const later = chain.calls.filter((call) => call.index > index && call.answer !== 'no')
  const next = later.find(({ kind }) => kind === 'ask' || kind === 'cancel')
  if (ask.recurs !== true || next?.kind !== 'ask' || next.answer !== 'yes') return Number.NEGATIVE_INFINITY
  return (next.sentAt ?? Number.NEGATIVE_INFINITY) - clockLagMs
}

/** The ask owes no instants up to this one. */
function inForceFrom({ ask, answer, answeredAt }: AskCall, { calmAt, promptMs }: Facts): number {
  if (ask.recurs !== true) return Number.NEGATIVE_INFINITY
  if (answer === 'yes') return answeredAt ?? Number.POSITIVE_INFINITY
  // After the last fault, an unanswered call has been written or never will be.
  return calmAt === null ? Number.POSITIVE_INFINITY : calmAt + promptMs
}

/** Whether an instant was pruned, or fell into a user's pause of a recurring alarm. A one-time alarm fires after the pause. */
function isExempt(
  instant: number,
  { ask }: AskCall,
  { paused }: ChainState,
  { prunedBefore }: Evidence,
): boolean {
  if (prunedBefore !== undefined && instant < prunedBefore) return true
  if (ask.recurs !== true && ask.instants.length === 1) return false
  return paused.some(({ from, to }) => from <= instant && instant <= to)
}
