import type { LogRecord } from './evidence.ts'
import type { AskCall, Chain } from './model.ts'
import { type Span, Spans } from './sorted.ts'

/** Whether an instant of an ask is accounted for: delivered, or in the log with a valid reason. */
export type AccountedFor = (call: AskCall, instant: number) => boolean

/**
 * Reads a chain's log. Reasons that only a user's call produces (`cancelled`, `rescheduled`, `skip_next`) do not excuse
 * a missing delivery of the current ask. They do for an ask that was replaced or cancelled.
 */
export function accountedFor(chain: Chain, as: 'current' | 'replaced'): AccountedFor {
  let log: ChainLog | null = null
  return (call, instant) => {
    if (call.delivered.has(instant)) return true
    // Most instants were delivered, so the log is read only when one was not.
    log ??= logOf(chain, as)
    if (log.failed.has(instant)) return true
    if (call.ask.toLog && log.delivered.has(instant)) return true
    return log.skipped.some(instant, instant, ({ record }) => as === 'replaced' || mayBeSkipped(call, record))
  }
}

interface Skip extends Span {
  readonly record: LogRecord
}

interface ChainLog {
  readonly failed: ReadonlySet<number>
  readonly delivered: ReadonlySet<number>
  readonly skipped: Spans<Skip>
}

function logOf(chain: Chain, as: 'current' | 'replaced'): ChainLog {
  const failed = new Set<number>()
  const delivered = new Set<number>()
  const skipped: Skip[] = []
  const mayBePaused = chain.calls.some(({ kind, answer }) => kind === 'pause' && answer !== 'no')
  for (const record of chain.records) {
    const { type, scheduledFor, skippedTo = scheduledFor, reason = '' } = record
    // A pending retry waits as long as its alarm is paused.
    if (type === 'alarm.failed' || (mayBePaused && type === 'alarm.attempt_failed')) failed.add(scheduledFor)
    else if (type !== 'alarm.skipped') addDelivered(delivered, record)
    else if (as === 'replaced' || counts(reason, mayBePaused))
      skipped.push({ from: scheduledFor, to: skippedTo, record })
  }
  return { failed, delivered, skipped: new Spans(skipped) }
}

function addDelivered(delivered: Set<number>, { type, scheduledFor }: LogRecord): void {
  if (type !== 'alarm.attempt_failed') delivered.add(scheduledFor)
}

function counts(reason: string, mayBePaused: boolean): boolean {
  if (reason === 'paused') return mayBePaused
  return reason !== 'cancelled' && reason !== 'rescheduled' && reason !== 'skip_next'
}

/** Whether the options of the ask allow a skip for that reason. */
function mayBeSkipped({ ask }: AskCall, { at, scheduledFor, reason }: LogRecord): boolean {
  if (reason === 'misfire') return ask.graceMs === undefined || at - scheduledFor > ask.graceMs
  return reason !== 'overlap' || ask.skipsOnOverlap !== false
}
