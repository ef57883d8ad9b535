import { setTimeout } from 'node:timers/promises'
import { type AlarmEventType, type Serial, skippedText } from '../../alarm/index.ts'
import type { Wakeful } from '../../index.ts'
import { eventData } from '../../library/index.ts'
import type { Log } from '../../server/index.ts'
import type { LogEvent } from '../../stores/index.ts'
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
export async function logProblems({ operator }: Wakeful, lines: ProblemLines): Promise<void> {
  const { log, signal, now } = lines
  const sampler = new ProblemSampler()
  let after: Serial | null = null
  let isFailing = false
  while (!signal.aborted) {
    try {
      for await (const { events, next } of operator.follow(PROBLEMS, after, signal)) {
        for (const event of events) {
          const leftOut = sampler.next(event.tenant, now())
          if (leftOut !== null) logProblem(event, leftOut, lines)
        }
        after = next
        isFailing = false
      }
    } catch (thrown) {
      // Once: the engine logs as well that the store does not answer.
      if (!isFailing) log.error(thrown)
      isFailing = true
    }
    await setTimeout(RETRY_MS, null, { signal }).catch(() => {})
  }
}

function logProblem(event: LogEvent, leftOut: number, { log, zone }: ProblemLines): void {
  const { type, tenant, owner, alarmId, occurrenceId, key, subject, correlationId } = event
  const data = eventData(event.data)
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
