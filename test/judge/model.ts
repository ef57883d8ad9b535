import type { Ask, Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import { isAmong } from './sorted.ts'

/**
 * The model: what should happen, by what users asked for and were told, and by nothing else.
 *
 * All calls about one alarm are a chain: the sets of one key, or a set and the moves of its alarm, with the cancels,
 * pauses and resumes of it. Whoever makes them makes one after the other: the next one is sent when the one before was
 * answered, was refused, or can no longer be written. So their order in the ledger is their order in time, and each is
 *
 *   yes      it was answered: it is in force from its answer at the latest, and from when it was sent at the earliest;
 *   no       it was refused, or a cancel found the alarm ended: nothing was written;
 *   unknown  it was never answered: it may have been written, and may not.
 *
 * The last ask that is a yes stands, unless a cancel that is not a no came later. Asks after it that are unknown may
 * have replaced it: then one of them all must have been kept (`standing`).
 */
export interface Chain {
  /** Cancels, pauses and resumes too; in the order of the ledger. */
  readonly calls: Call[]
  readonly asks: AskCall[]
  readonly alarmIds: Set<string>
  readonly starts: Start[]
  readonly records: LogRecord[]
}

export type Answer = 'yes' | 'no' | 'unknown'

/** A call, and what became of it. Moments are known where the ledger tells them. */
export interface Call {
  readonly kind: 'ask' | 'cancel' | 'park' | 'unpark'
  /** Where in the ledger it stands. */
  readonly index: number
  readonly sentAt: number | undefined
  answer: Answer
  answeredAt: number | undefined
}

/** An ask, and what is known of its deliveries. */
export interface AskCall extends Call {
  readonly kind: 'ask'
  readonly ask: Ask
  readonly chain: Chain
  readonly place: number
  alarmId: string | undefined
  /** When each of its instants was first delivered; one that several asks have in common counts for all of them. */
  readonly delivered: Map<number, number>
  /** The first and the last of its instants that were surely dealt with for it and for no other ask. */
  firstSure: number
  lastSure: number
}

/** Notes that an instant was dealt with for this ask. */
export function sure(call: AskCall, instant: number): void {
  call.firstSure = Math.min(call.firstSure, instant)
  call.lastSure = Math.max(call.lastSure, instant)
}

/**
 * The asks that a delivery under this name may be for: the one of that name, and the moves of its alarm up to the next
 * set, since a move leaves the payload, and the name in it, as they are.
 */
export function lineOf(named: AskCall): AskCall[] {
  const { asks } = named.chain
  const isSet = ({ place, ask }: AskCall) => place > named.place && ask.alarmId === undefined
  const next = asks.findIndex(isSet)
  return asks.slice(named.place, next === -1 ? undefined : next)
}

/** Those of them that have this instant. */
export function asksOf(named: AskCall, instant: number): AskCall[] {
  return lineOf(named).filter(({ answer, ask }) => answer !== 'no' && isAmong(ask.instants, instant))
}

/** The asks of which one must have been kept, the surest first; none where nothing is owed at the end. */
export function standing({ calls }: Chain): AskCall[] {
  const last = calls.findLastIndex((call) => call.kind === 'ask' && call.answer === 'yes')
  if (last === -1) return []
  const later = calls.slice(last).filter(({ answer }) => answer !== 'no')
  if (later.some(({ kind }) => kind === 'cancel')) return []
  return later.filter(isAsk)
}

/** Whether a call asks for something. */
export function isAsk(call: Call): call is AskCall {
  return call.kind === 'ask'
}

/** From when on an ask was surely replaced by a later one; never, where no later one was answered at a known moment. */
export function replacedAt({ chain, place }: AskCall): number {
  for (let later = place + 1; later < chain.asks.length; later++) {
    const { answer, answeredAt } = chain.asks[later]!
    if (answer === 'yes') return answeredAt ?? Number.POSITIVE_INFINITY
  }
  return Number.POSITIVE_INFINITY
}

/** When the alarm may have been paused by its user. A move leaves it paused; a key set again, or a resume, does not. */
export function parkedSpans({ calls }: Chain): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = []
  let from: number | null = null
  for (const call of calls) {
    if (call.kind === 'park' && call.answer !== 'no') from ??= call.sentAt ?? Number.NEGATIVE_INFINITY
    if (from === null || call.answer !== 'yes') continue
    const ends = call.kind === 'unpark' || (isAsk(call) && call.ask.alarmId === undefined)
    if (!ends) continue
    spans.push({ from, to: call.answeredAt ?? Number.POSITIVE_INFINITY })
    from = null
  }
  if (from !== null) spans.push({ from, to: Number.POSITIVE_INFINITY })
  return spans
}

/** The last moment at which one of a chain's calls was sent or answered, where the ledger tells. */
export function lastCallAt({ calls }: Chain): number {
  let last = Number.NEGATIVE_INFINITY
  for (const { sentAt, answeredAt } of calls) last = Math.max(last, answeredAt ?? sentAt ?? last)
  return last
}
