import { describeMisfire, describeTimes, formatInstant, humanizeDuration } from '../../time/index.ts'
import { type Snapshot, type Status, stateOf, statusOf, type Timer } from '../model/index.ts'

/** One thing that happened, in words. */
export interface StoryLine {
  readonly at: Date
  readonly type: string
  readonly text: string
  /** The error of a failed attempt or a failed alarm. */
  readonly error?: string
  /** Why occurrences were skipped, or the alarm was rescheduled. */
  readonly reason?: string
}

/** The whole story of one alarm, and what happens next. */
export interface Story {
  readonly id: string
  /** The alarm's tenant and owner, in a read across owners. */
  readonly tenant?: string
  readonly owner?: string
  readonly status: Status
  /** The zone of its rule. */
  readonly timezone: string
  /** What was asked, in words. */
  readonly asked: string
  readonly story: readonly StoryLine[]
  /** What happens next, or why nothing does. */
  readonly next: string
}

/** An event as the story reads it. */
export interface StoryEvent {
  readonly at: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What `why` needs besides the alarm. */
export interface WhyContext {
  readonly now: number
  /** Whether any process fires the alarms of the alarm's pool. */
  readonly clockRuns: boolean
}

/** Explains an alarm from its record, its timers and its events. */
export function why(snapshot: Snapshot, events: readonly StoryEvent[], context: WhyContext): Story {
  const { alarm } = snapshot
  const status = statusOf(stateOf(alarm, snapshot.timers, snapshot.outcome))
  const origin = alarm.createdBy === null ? alarm.createdVia : `${alarm.createdVia}, by ${alarm.createdBy}`
  const created = {
    at: new Date(alarm.createdAt),
    type: 'alarm.set',
    // The notes of the alarm are those of its last reschedule, whose event has them too.
    text: `set (${origin})${alarm.registeredAt > alarm.createdAt ? '' : notes(alarm.notes)}`,
  }
  const again = deliveredAgain(snapshot, events)
  const all = again === null ? events : [...events, again].sort((a, b) => a.at - b.at)
  const story = [created, ...all.map(storyLine)]
  const next = nextText(snapshot, status, context)
  return { id: alarm.id, status, timezone: alarm.rule.timezone, asked: asked(snapshot), story, next }
}

function storyLine(event: StoryEvent): StoryLine {
  const { error, reason } = event.data
  return {
    at: new Date(event.at),
    type: event.type,
    text: eventText(event),
    ...(typeof error === 'string' && { error }),
    ...(typeof reason === 'string' && { reason }),
  }
}

/** A delivery after a failed report has no record (promise: recorded-once); it is found in the summary. */
function deliveredAgain(
  { alarm, outcome }: Snapshot,
  events: readonly StoryEvent[],
): (StoryEvent & { readonly type: 'alarm.fired' }) | null {
  const at = outcome?.lastFiredAt ?? null
  if (alarm.ack !== 'report' || at === null) return null
  const before = events.findLast((event) => event.at <= at && !BETWEEN_ATTEMPTS.has(event.type))
  const isRecorded = events.some(({ data }) => data.fired_at === formatInstant(at))
  if (before?.type !== 'alarm.attempt_failed' || isRecorded) return null
  return { at, type: 'alarm.fired', data: { again: true, attempt: Number(before.data.attempt) + 1 } }
}

/** Events that may come between two attempts at an occurrence. */
const BETWEEN_ATTEMPTS: ReadonlySet<string> = new Set(['alarm.paused', 'alarm.resumed', 'alarm.rescheduled'])

/** Targets that need no name. */
const ONE_OF_A_KIND: Readonly<Record<string, string>> = {
  event: 'the event log',
  inbox: 'the inbox',
  default: 'the owner’s default target',
}

function asked({ alarm }: Snapshot): string {
  const { kind, name, pool } = alarm.target
  const where = ONE_OF_A_KIND[kind] ?? `${kind} ${name} in pool ${pool}`
  const { timezone } = alarm.rule
  const [times, missed] = [describeTimes(alarm.rule), describeMisfire(alarm.rule)]
  const zone = times.includes(timezone) ? '' : `, in ${timezone}`
  return `${times}${zone}, to ${where}${missed === '' ? '' : `; ${missed}`}`
}

function notes(texts: readonly string[]): string {
  return texts.length === 0 ? '' : `: ${texts.join('; ')}`
}

function eventText({ type, data }: StoryEvent): string {
  const error = typeof data.error === 'string' ? `: ${data.error}` : ''
  switch (type) {
    case 'alarm.fired':
      if (data.again === true) return `delivered again (attempt ${data.attempt})`
      return `delivered, ${data.drift_ms} ms late for ${data.scheduled_for}${movedText(data)} (attempt ${data.attempt})`
    case 'schedule.ticked':
    case 'timer.due_time_reached':
      return `written to the log, ${data.drift_ms} ms late for ${data.scheduled_for}${movedText(data)}`
    case 'alarm.attempt_failed':
      return `attempt ${data.attempt} failed${error}; next attempt at ${data.retry_at}`
    case 'alarm.failed':
      return `failed for good${data.late === true ? ', after the timeout' : ''}${error}`
    case 'alarm.skipped':
      return skippedText(data)
    case 'alarm.completed':
      return `reported complete${data.late === true ? ', after the timeout' : ''}: ${data.result}`
    case 'alarm.timed_out':
      return 'no report came in time'
    case 'alarm.rescheduled':
      if (data.reason === 'fire_now') return 'asked to fire at once'
      if (data.reason === 'retry') return 'asked to try again'
      if (data.reason === 'snooze')
        return `snoozed until ${data.next_fire_at}${Array.isArray(data.notes) ? notes(data.notes) : ''}`
      if (data.reason === 'zone_data')
        return `moved from ${data.was} to ${data.next_fire_at}: its zone’s data has changed`
      if (data.reason === 'calendar')
        return `moved from ${data.was} to ${data.next_fire_at}: a calendar it names was edited`
      return `rescheduled to ${data.next_fire_at}${Array.isArray(data.notes) ? notes(data.notes) : ''}`
    case 'alarm.dead_lettered':
      return `called its onFailure target ${data.target}, with alarm ${data.letter_id}`
    case 'alarm.undeclared':
      return `left the list ${data.list} that declared it: retention may delete it`
    default:
      return type.replace(/^alarm\./, '')
  }
}

/** A run of skipped occurrences: how many, why, when, and which days were off. */
export function skippedText(data: StoryEvent['data']): string {
  const { count, reason, from, to, at_least, days_off } = data
  const many = `${at_least === true ? 'at least ' : ''}${count} occurrence${count === 1 ? '' : 's'}`
  const when = from === to ? `on ${from}` : `from ${from} to ${to}`
  const days = Array.isArray(days_off) && days_off.length > 0 ? `: ${days_off.join(', ')}` : ''
  return `${many} skipped (${reason}) ${when}${days}`
}

function movedText({ moved_from }: StoryEvent['data']): string {
  return typeof moved_from === 'string' ? `, moved from ${moved_from}` : ''
}

function nextText(snapshot: Snapshot, status: Status, context: WhyContext): string {
  const { alarm, timers } = snapshot
  if (status === 'paused') return 'nothing until it is resumed'
  if (timers.length === 0) return ended(snapshot, status)
  const inFlight = timers.filter((timer) => snapshot.inFlight.has(timer.id))
  if (inFlight.length > 0) {
    return alarm.cancelledAt === null
      ? 'it is being delivered right now'
      : 'it is being delivered right now, and then it ends: it was cancelled'
  }
  const first = [...timers].sort((a, b) => (a.wakeAt ?? Infinity) - (b.wakeAt ?? Infinity))[0]!
  const text = timerText(snapshot, first, context)
  return context.clockRuns
    ? text
    : `${text}. No process fires the alarms of pool ${alarm.target.pool} now: start one`
}

function timerText({ alarm }: Snapshot, timer: Timer, context: WhyContext): string {
  const { now } = context
  const at =
    timer.wakeAt === null ? '' : `at ${formatInstant(timer.wakeAt)} (${relative(timer.wakeAt - now)})`
  if (timer.waiting === 'handler' && alarm.target.kind !== 'handler') {
    return `it is due since ${formatInstant(timer.scheduledFor)} and waits, uncounted, until its ${alarm.target.kind} can be reached; looked at again ${at}`
  }
  if (timer.waiting === 'handler') {
    return `it is due since ${formatInstant(timer.scheduledFor)} and waits, uncounted, until a process of pool ${alarm.target.pool} registers the handler ${alarm.target.name}`
  }
  if (timer.waiting === 'operator_pause') {
    return `paused: an operator has paused this tenant or this target; it is due since ${formatInstant(timer.scheduledFor)} and waits, uncounted, until that is resumed`
  }
  if (timer.waiting === 'overlap' && timer.wakeAt === null)
    return 'it waits until its earlier occurrence has ended'
  if (timer.kind === 'report') return `its report is awaited; without one it ends timed_out ${at}`
  if (timer.kind === 'retry') return `attempt ${timer.attempt + 1} of ${alarm.maxFailures} ${at}`
  return `it fires ${at}`
}

function ended({ outcome }: Snapshot, status: Status): string {
  const error = outcome?.lastError ? `: ${outcome.lastError}` : ''
  if (status === 'failed' || status === 'timed_out')
    return `nothing: it ended ${status}${error}. Use \`retry\` to try again`
  return `nothing: it ended ${status}`
}

function relative(ms: number): string {
  if (ms < 0) return `overdue by ${humanizeDuration(-ms)}`
  return ms < 1000 ? 'now' : `in ${humanizeDuration(ms)}`
}
