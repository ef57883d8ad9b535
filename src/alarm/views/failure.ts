import { TIMED_OUT } from '../../seeds/index.ts'
import { type Failure, failedResult, recurs, type Snapshot } from '../model/index.ts'
import { type AlarmView, viewOf } from './view.ts'

/** The event with which an occurrence failed or timed out. */
interface FailedOccurrence {
  readonly failure: Failure
  /** The occurrence's name within its alarm. */
  readonly occurrence: string | null
  readonly type: string
  /** JSON text. */
  readonly data: string
  /** The alarm's failures and timeouts after it, if a report failed it after its timeout. */
  readonly since: readonly Pick<FailedOccurrence, 'type' | 'data'>[]
}

/**
 * A failed occurrence as users see it: its alarm as it is now. A recurring alarm goes on, so that the result, the error and
 * the attempts are those of the occurrence, not of the alarm's newest one.
 */
export function failureView(snapshot: Snapshot, event: FailedOccurrence): AlarmView {
  const { alarm } = snapshot
  const { occurrence } = event
  const view = viewOf(snapshot)
  const scheduledFor = occurrence === null ? null : new Date(Number(occurrence.split('-')[1]))
  const occurrenceId = occurrence === null ? null : `${alarm.id}-${occurrence}`
  if (!recurs(alarm)) return { ...view, occurrenceId, scheduledFor }
  const { attempts = 0, error: own } = JSON.parse(event.data) as { attempts?: number; error?: string }
  const isLate = isFailedLate(snapshot, event)
  const error = own ?? (isLate ? lateReason(occurrenceId, event.since) : 'no report came in time')
  const result = event.failure === 'timed_out' ? TIMED_OUT : failedResult(error, attempts)
  const outcome = { result, lastError: error, failureCount: attempts, attempts }
  const unknown = { startedAt: null, completedAt: null, durationMs: null }
  return { ...view, ...outcome, ...unknown, occurrenceId, scheduledFor }
}

/** Whether a report failed this occurrence after its timeout. Of a recurring alarm, only the log keeps the reason. */
export function isFailedLate(
  { alarm }: Snapshot,
  { failure, type }: Pick<FailedOccurrence, 'failure' | 'type'>,
): boolean {
  return recurs(alarm) && failure === 'failed' && type === 'alarm.timed_out'
}

/** The reason of that report, if it is among these events. A report that names no occurrence is on the newest timeout. */
function lateReason(occurrenceId: string | null, events: FailedOccurrence['since']): string {
  let unnamed = occurrenceId
  for (const { type, data } of events) {
    if (type === 'alarm.timed_out') unnamed = null
    const { late, occurrence_id = unnamed, error } = JSON.parse(data)
    if (late === true && occurrence_id === occurrenceId) return error
  }
  return 'reported after its timeout'
}
