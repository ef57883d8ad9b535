import { setTimeout } from 'node:timers/promises'
import { type AlarmEventType, skippedText } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { EventView, Wakeful } from '../../index.ts'
import type { Log } from '../../server/index.ts'
import { localInstants, oneLine } from '../text/index.ts'
import { ProblemSampler } from './problem-sampler.ts'

/** The events that `serve` logs. */
const PROBLEMS: readonly AlarmEventType[] = [
  'alarm.attempt_failed',
  'alarm.failed',
  'alarm.timed_out',
  'alarm.skipped',
  'alarm.dead_lettered',
]
const RETRY_MS = 1_000

/** What the lines are logged with. */
interface ProblemLines {
  readonly log: Log
  readonly zone: string
  readonly now: () => number
  readonly signal: AbortSignal
}

/** Logs the problems of every tenant's alarms from now on. If the log cannot be read, alarms still fire, and it continues later. */
export async function logProblems(wakeful: Wakeful, lines: ProblemLines): Promise<void> {
  const { log, signal, now } = lines
  const sampler = new ProblemSampler()
  let after = 'newest'
  let isFailing = false
  while (!signal.aborted) {
    try {
      const reading = { type: PROBLEMS, after, follow: true, signal }
      for await (const { items, nextCursor } of wakeful.allTenants().eventPages(reading)) {
        for (const event of items) {
          const leftOut = sampler.next(event.tenant, now())
          if (leftOut !== null) logProblem(event, leftOut, lines)
        }
        after = nextCursor
        isFailing = false
      }
    } catch (thrown) {
      // Retention was faster than the repair of the store: what it deleted cannot be logged any more.
      if (thrown instanceof WakefulError && thrown.code === 'cursor_expired') after = 'newest'
      // Once: the engine logs as well that the store does not answer.
      if (!isFailing) log.error(thrown)
      isFailing = true
    }
    await setTimeout(RETRY_MS, null, { signal }).catch(() => {})
  }
}

function logProblem(event: EventView, leftOut: number, { log, zone }: ProblemLines): void {
  const { type, tenant, owner, alarmId, occurrenceId, key, subject, correlationId, data } = event
  const fields = {
    ...data,
    tenant,
    owner,
    alarm_id: alarmId,
    occurrence_id: occurrenceId,
    key,
    subject,
    correlation_id: correlationId,
    event_id: event.id,
    ...(leftOut > 0 && { left_out: leftOut }),
  }
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
  log.event(type, problemText(type, data, zone), known, 'warn')
}

function problemText(type: string, data: Readonly<Record<string, unknown>>, zone: string): string {
  if (type === 'alarm.skipped') return `skipped: ${localInstants(oneLine(skippedText(data)), zone)}`
  return type.replace('alarm.', '').replaceAll('_', ' ')
}
