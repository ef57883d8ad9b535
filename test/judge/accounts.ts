import type { LogRecord } from './evidence.ts'
import type { AskCall, Chain } from './model.ts'
import { type Span, Spans } from './sorted.ts'

/** Whether an instant of an ask was dealt with: delivered, or in the log with a reason that counts. */
export type Accounts = (call: AskCall, instant: number) => boolean

/**
 * Reads a chain's log. A skip for a reason that only the user's own call can give excuses nothing of an ask that stands;
 * of one that was replaced or cancelled it does.
 */
export function accountsOf(chain: Chain, as: 'standing' | 'replaced'): Accounts {
  let log: ChainLog | null = null
  return (call, instant) => {
    if (call.delivered.has(instant)) return true
    // Most instants were delivered: the log is read for the others only.
    log ??= logOf(chain, as)
    if (log.failed.has(instant)) return true
    if (call.ask.toLog && log.told.has(instant)) return true
    return log.skipped.some(instant, instant, ({ record }) => as === 'replaced' || mayBeSkipped(call, record))
  }
}

interface Skip extends Span {
  readonly record: LogRecord
}

interface ChainLog {
  readonly failed: ReadonlySet<number>
  readonly told: ReadonlySet<number>
  readonly skipped: Spans<Skip>
}

function logOf(chain: Chain, as: 'standing' | 'replaced'): ChainLog {
  const failed = new Set<number>()
  const told = new Set<number>()
  const skipped: Skip[] = []
  const mayBeParked = chain.calls.some(({ kind, answer }) => kind === 'park' && answer !== 'no')
  for (const record of chain.records) {
    const { type, scheduledFor, skippedTo = scheduledFor, reason = '' } = record
    // What is to be tried again waits as long as its alarm is parked.
    if (type === 'alarm.failed' || (mayBeParked && type === 'alarm.attempt_failed')) failed.add(scheduledFor)
    else if (type !== 'alarm.skipped') tell(told, record)
    else if (as === 'replaced' || counts(reason, mayBeParked))
      skipped.push({ from: scheduledFor, to: skippedTo, record })
  }
  return { failed, told, skipped: new Spans(skipped) }
}

function tell(told: Set<number>, { type, scheduledFor }: LogRecord): void {
  if (type !== 'alarm.attempt_failed') told.add(scheduledFor)
}

function counts(reason: string, mayBeParked: boolean): boolean {
  if (reason === 'paused') return mayBeParked
  return reason !== 'cancelled' && reason !== 'rescheduled' && reason !== 'skip_next'
}

/** Whether an ask allows what was skipped to be skipped for that reason, as far as it says. */
function mayBeSkipped({ ask }: AskCall, { at, scheduledFor, reason }: LogRecord): boolean {
  if (reason === 'misfire') return ask.missedMs === undefined || at - scheduledFor > ask.missedMs
  return reason !== 'overlap' || ask.yields !== false
}
