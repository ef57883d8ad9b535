import type { z } from 'zod'
import type { operations } from '../../contracts/index.ts'
import { humanizeDuration } from '../../time/index.ts'

type Answer<N extends 'inbox' | 'why'> = z.output<(typeof operations)[N]['answers'][200]['schema']>

/** The times of a wake, as it was received. */
export type WakeTimes = Pick<
  Answer<'inbox'>['items'][number],
  'scheduled_for' | 'fired_at' | 'drift_ms' | 'attempt' | 'tries'
>

/** What is known of its alarm. */
export interface Background {
  readonly createdAt: string
  readonly lastError: string | null
  /** What happened to it, in order. */
  readonly story: Answer<'why'>['story']
}

/** Every delivery may take this long. */
export const IN_TIME_MS = 1_000

const ENDED: ReadonlySet<string> = new Set(['alarm.completed', 'alarm.failed', 'alarm.timed_out'])

/** Whether a wake was on time, and if not, why: the first thing a woken agent has to know. */
export function lateness(wake: WakeTimes, background: Background | null, now: number): string {
  const waitedMs = now - Date.parse(wake.fired_at)
  const reasons = [
    ...(wake.attempt > 1 ? [failedAttempts(wake, background)] : []),
    ...(wake.attempt === 1 && wake.drift_ms >= IN_TIME_MS ? [lateStart(wake, background)] : []),
    ...(wake.tries > 1 ? [handedOutAgain(wake.tries)] : []),
    ...(wake.tries === 1 && waitedMs >= IN_TIME_MS
      ? [`it was in your inbox for ${humanizeDuration(waitedMs)} until you asked`]
      : []),
  ]
  if (reasons.length === 0) return 'in time'
  const lateMs = now - Date.parse(wake.scheduled_for)
  return `${lateMs < IN_TIME_MS ? 'in time' : `${humanizeDuration(lateMs)} late`}: ${reasons.join('; ')}`
}

function failedAttempts({ attempt, fired_at }: WakeTimes, background: Background | null): string {
  const before = attempt - 1
  const count = before === 1 ? 'the first attempt failed' : `${before} attempts failed before this one`
  const line = background?.story.findLast(
    ({ type, at }) => type === 'alarm.attempt_failed' && Date.parse(at) <= Date.parse(fired_at),
  )
  const error = line === undefined ? background?.lastError : line.error
  return error === undefined || error === null
    ? count
    : `${count}${before === 1 ? '' : ', the last'}: ${error}`
}

function lateStart({ scheduled_for, fired_at }: WakeTimes, background: Background | null): string {
  const [due, firedAt] = [Date.parse(scheduled_for), Date.parse(fired_at)]
  const between = (background?.story ?? []).filter(
    ({ at }) => Date.parse(at) > due && Date.parse(at) <= firedAt,
  )
  const resumed = between.findLast(({ type }) => type === 'alarm.resumed')
  if (resumed !== undefined) return `it was paused until ${resumed.at}`
  const retried = between.findLast(
    ({ type, reason }) => type === 'alarm.rescheduled' && (reason === 'fire_now' || reason === 'retry'),
  )
  if (retried !== undefined) return `it was ${retried.text} on ${retried.at}`
  if (background !== null && Date.parse(background.createdAt) > due)
    return 'its time had already passed when it was set'
  const missed = between.find(({ type }) => type === 'alarm.skipped')
  if (missed !== undefined) return `the service was down then, or behind (${missed.text})`
  const earlier = between.findLast(({ type }) => ENDED.has(type))
  if (earlier !== undefined) return `the previous occurrence was open until ${earlier.at}`
  return 'the service was down then, was catching up, or an operator had paused it'
}

function handedOutAgain(tries: number): string {
  return `it is handed out for the ${ordinal(tries)} time, because it was not acknowledged before its \`hold\` ended: the work may have been started already`
}

function ordinal(number: number): string {
  return number === 2 ? 'second' : number === 3 ? 'third' : `${number}th`
}
