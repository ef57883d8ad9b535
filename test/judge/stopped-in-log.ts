import { type Violation, violation } from './breach.ts'
import type { LogRecord } from './evidence.ts'
import { type Facts, isDelivered } from './facts.ts'
import { type Call, type Chain, isAsk } from './model.ts'

/** Promise cancel-wins, where the log is the target: what goes there is not there after a cancel, nor during a pause. */
export function stoppedInLog({ chains }: Facts): Violation[] {
  return chains.flatMap((chain) => {
    if (!chain.asks.some(({ ask }) => ask.toLog)) return []
    return chain.calls.flatMap((call, place) => {
      if (call.answer !== 'yes' || (call.kind !== 'cancel' && call.kind !== 'park')) return []
      return goingOn(chain, call, place)
    })
  })
}

/** By how much a record may be dated before it was written: nobody's clock is exact, and none is ahead. */
const BEHIND_MS = 5_000

/** What is in the log from the answer on, until a call that may have let the alarm go on was sent. */
function goingOn({ calls, records }: Chain, stop: Call, place: number): Violation[] {
  const isPark = stop.kind === 'park'
  const next = calls.slice(place + 1).find((call) => (isPark ? endsPause(call) : call.kind === 'ask'))
  const [from, to] = [stop.answeredAt ?? Number.POSITIVE_INFINITY, sentAt(next)]
  const isAfter = (record: LogRecord) =>
    isDelivered(record) && from < record.at && record.at < to && (!isPark || record.scheduledFor > from)
  return records
    .filter(isAfter)
    .map(({ occurrenceId }) =>
      isPark
        ? violation('while_parked', `${occurrenceId} is in the log although it was paused`)
        : violation('after_cancel', `${occurrenceId} is in the log although it was cancelled`),
    )
}

function endsPause(call: Call): boolean {
  return call.kind === 'unpark' || (isAsk(call) && call.ask.alarmId === undefined)
}

function sentAt(call: Call | undefined): number {
  return call === undefined ? Number.POSITIVE_INFINITY : (call.sentAt ?? Number.NEGATIVE_INFINITY) - BEHIND_MS
}
