import { type Violation, violation } from './breach.ts'
import type { LogRecord } from './evidence.ts'
import { type Facts, isDelivered } from './facts.ts'
import { type Call, type Chain, mayEndPause } from './model.ts'

/** Promise cancel-wins if the log is the target: no record appears after a cancel or during a pause. */
export function stoppedInLog({ chains, evidence }: Facts): Violation[] {
  const { clockLagMs = CLOCK_LAG_MS } = evidence
  return chains.flatMap((chain) => {
    if (!chain.asks.some(({ ask }) => ask.toLog)) return []
    return chain.calls.flatMap((call, order) => {
      if (call.answer !== 'yes' || (call.kind !== 'cancel' && call.kind !== 'pause')) return []
      return recordedAfter(chain, call, order, clockLagMs)
    })
  })
}

const CLOCK_LAG_MS = 5_000

/** Records after the answer and before the next call that may have reactivated the alarm. */
function recordedAfter(
  { calls, records }: Chain,
  stop: Call,
  order: number,
  clockLagMs: number,
): Violation[] {
  const isPause = stop.kind === 'pause'
  const next = calls.find(
    (call, later) => later > order && (isPause ? mayEndPause(calls, later) : call.kind === 'ask'),
  )
  const [from, to] = [stop.answeredAt ?? Number.POSITIVE_INFINITY, sentAt(next) - clockLagMs]
  const isAfter = (record: LogRecord) =>
    isDelivered(record) && from < record.at && record.at < to && (!isPause || record.scheduledFor > from)
  return records
    .filter(isAfter)
    .map(({ occurrenceId }) =>
      isPause
        ? violation('while_paused', `${occurrenceId} is in the log although it was paused`)
        : violation('after_cancel', `${occurrenceId} is in the log although it was cancelled`),
    )
}

function sentAt(call: Call | undefined): number {
  return call === undefined ? Number.POSITIVE_INFINITY : (call.sentAt ?? Number.NEGATIVE_INFINITY)
}
