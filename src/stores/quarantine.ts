import {
  type Context,
  failedResult,
  NO_OUTCOME,
  type Outcome,
  type Scope,
  type Serial,
  type Tally,
} from '../alarm/index.ts'
import { TIMER_COLUMNS, type Values } from './rows.ts'

/** What is known of an alarm whose row cannot be read. */
interface UnreadableAlarm extends Scope {
  readonly seq: Serial
  readonly kind: string
}

/** What ends an alarm whose row, or whose timer's row, cannot be read: as `failed`, with the reason. */
export function quarantineOf(alarm: UnreadableAlarm, timer: Values, reason: string, context: Context) {
  const of = (column: (typeof TIMER_COLUMNS)[number]) => timer[TIMER_COLUMNS.indexOf(column)]
  const { seq, tenant, owner } = alarm
  const attempts = of('attempt') as number
  const error = `quarantined: ${reason}`
  const outcome: Outcome = {
    ...NO_OUTCOME,
    status: 'failed',
    completedAt: null,
    result: failedResult(error, attempts),
    lastError: error,
    failureCount: attempts,
    attempts,
  }
  const occurrence = `${of('generation')}-${of('scheduled_for')}`
  const names = [
    context.newId(),
    tenant,
    owner,
    'alarm.failed',
    'caused',
    seq,
    occurrence,
    null,
    null,
  ] as const
  const event = [...names, context.now, JSON.stringify({ error, attempts })] as const
  const isAwaiting = alarm.kind === 'once' && of('kind') === 'report'
  const tally: Tally = { from: isAwaiting ? 'fired' : 'pending', to: 'failed', durationMs: null }
  return { outcome, event, tally }
}
