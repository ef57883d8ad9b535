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
  const { attempts, error } = outcomeOf(event)
  const result = event.failure === 'timed_out' ? TIMED_OUT : failedResult(error, attempts)
  const outcome = { result, lastError: error, failureCount: attempts, attempts }
  const unknown = { startedAt: null, completedAt: null, durationMs: null }
  return { ...view, ...outcome, ...unknown, occurrenceId, scheduledFor }
}

function outcomeOf({ failure, type, data }: FailedOccurrence): { attempts: number; error: string } {
  const { attempts = 0, error } = JSON.parse(data) as { attempts?: number; error?: string }
  const timedOut = 'no report came in time'
  // A report that came after the timeout says that it failed: the event of the timeout has no error.
  const reported =
    type === 'alarm.timed_out' && failure === 'failed' ? 'reported after its timeout' : timedOut
  return { attempts, error: error ?? reported }
}
