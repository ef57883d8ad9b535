import type { Ask, Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import { isAmong } from './sorted.ts'

/**
 * The model: what should happen, derived only from users' calls and the answers they got.
 *
 * All calls on one alarm form a chain: the sets of one key, or a set and the reschedules of its alarm, with the cancels,
 * pauses and resumes. The calls of a chain are sequential: the next is sent after the previous one was answered, was
 * refused, or can no longer be written. So ledger order is time order. The answer of a call is
 *
 *   yes      it succeeded: it took effect between sending and answer;
 *   no       it was refused, or a cancel found the alarm ended: nothing was written;
 *   unknown  it was never answered: it may or may not have been written.
 *
 * The last ask answered `yes` is current, unless a later cancel was not answered `no`. Later asks with answer `unknown`
 * may have replaced it; then one of them all must have been kept (`currentAsks`).
 */
export interface Chain {
  /** All calls, including cancels, pauses and resumes, in ledger order. */
  readonly calls: Call[]
  readonly asks: AskCall[]
  readonly alarmIds: Set<string>
  readonly starts: Start[]
  readonly records: LogRecord[]
}

export type Answer = 'yes' | 'no' | 'unknown'

/** A call and its answer. Times are undefined if the ledger does not have them. */
export interface Call {
  readonly kind: 'ask' | 'cancel' | 'pause' | 'resume'
  /** Its index in the ledger. */
  readonly index: number
  readonly sentAt: number | undefined
  answer: Answer
  answeredAt: number | undefined
}

/** An ask and its deliveries. */
export interface AskCall extends Call {
  readonly kind: 'ask'
  readonly ask: Ask
  readonly chain: Chain
  /** Its index in `chain.asks`. */
  readonly order: number
  alarmId: string | undefined
  /** When each of its instants was first delivered. A delivery counts for every ask that has the instant. */
  readonly delivered: Map<number, number>
  /** The first and last of its instants that were certainly handled for this ask and no other. */
  firstHandled: number
  lastHandled: number
}

/** Records that an instant was handled for this ask. */
export function markHandled(call: AskCall, instant: number): void {
  call.firstHandled = Math.min(call.firstHandled, instant)
  call.lastHandled = Math.max(call.lastHandled, instant)
}

/**
 * The asks that a delivery with this name may belong to: the named one, and the reschedules of its alarm up to the next
 * set. A reschedule keeps the payload, which contains the name.
 */
export function sameNameAsks(named: AskCall): AskCall[] {
  const { asks } = named.chain
  const isSet = ({ order, ask }: AskCall) => order > named.order && ask.alarmId === undefined
  const next = asks.findIndex(isSet)
  return asks.slice(named.order, next === -1 ? undefined : next)
}

/**
 * The asks of which this may be a delivery: they contain the instant. What was due of a recurring ask when a set of its key
 * replaced it is delivered as the new ask, with its name.
 */
export function asksAt(named: AskCall, instant: number): AskCall[] {
  const earlier = named.chain.asks.slice(0, named.order).filter(({ ask }) => ask.recurs)
  return [...earlier, ...sameNameAsks(named)].filter(
    ({ answer, ask }) => answer !== 'no' && isAmong(ask.instants, instant),
  )
}

/** The asks of which one must have been kept, starting with the one answered `yes`. Empty if nothing is owed at the end. */
export function currentAsks({ calls }: Chain): AskCall[] {
  const last = calls.findLastIndex((call) => call.kind === 'ask' && call.answer === 'yes')
  if (last === -1) return []
  const later = calls.slice(last).filter(({ answer }) => answer !== 'no')
  if (later.some(({ kind }) => kind === 'cancel')) return []
  return later.filter(isAsk)
}

/** Whether a call is an ask. */
function isAsk(call: Call): call is AskCall {
  return call.kind === 'ask'
}

/** When an ask was certainly replaced by a later one; infinite if no later one was answered at a known time. */
export function replacedAt({ chain, order }: AskCall): number {
  for (let later = order + 1; later < chain.asks.length; later++) {
    const { answer, answeredAt } = chain.asks[later]!
    if (answer === 'yes') return answeredAt ?? Number.POSITIVE_INFINITY
  }
  return Number.POSITIVE_INFINITY
}

/** When the alarm may have been paused by its user. Reschedules and sets of its key keep the pause. */
export function pausedSpans({ calls }: Chain): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = []
  let from: number | null = null
  for (const [order, call] of calls.entries()) {
    if (call.kind === 'pause' && call.answer !== 'no') from ??= call.sentAt ?? Number.NEGATIVE_INFINITY
    if (from === null || call.answer !== 'yes' || !endsPause(calls, order)) continue
    spans.push({ from, to: call.answeredAt ?? Number.POSITIVE_INFINITY })
    from = null
  }
  if (from !== null) spans.push({ from, to: Number.POSITIVE_INFINITY })
  return spans
}

/** Whether this call certainly ends a pause: a resume does, and a set after a cancel, which starts the alarm afresh. */
function endsPause(calls: readonly Call[], order: number): boolean {
  const [before, call] = [calls[order - 1], calls[order]!]
  if (!isAsk(call)) return call.kind === 'resume'
  return call.ask.alarmId === undefined && before?.kind === 'cancel' && before.answer !== 'unknown'
}

/** Whether this call may end a pause: a resume does, and a set that may have found the alarm ended, which starts it afresh. */
export function mayEndPause(calls: readonly Call[], order: number): boolean {
  const call = calls[order]!
  if (!isAsk(call)) return call.kind === 'resume'
  if (call.ask.alarmId !== undefined) return false
  const before = calls.slice(0, order).filter(({ answer }) => answer !== 'no')
  const at = call.answeredAt ?? Number.POSITIVE_INFINITY
  return before.some(
    (each) => each.kind === 'cancel' || (isAsk(each) && (each.ask.instants.at(-1) ?? at) <= at),
  )
}

/** The last time at which a call of the chain was sent or answered, if known. */
export function lastCallAt({ calls }: Chain): number {
  let last = Number.NEGATIVE_INFINITY
  for (const { sentAt, answeredAt } of calls) last = Math.max(last, answeredAt ?? sentAt ?? last)
  return last
}
