import {
  type Alarm,
  type Beginning,
  type Change,
  type Context,
  isEnd,
  recurs,
  type Snapshot,
  stateOf,
} from '../model/index.ts'
import { askedAt, givesCorrelationId, isSameDefinition, isSameRule } from './definition.ts'
import { amend, replace, resume } from './edit.ts'

/** What a set asks for, of an alarm whose key is known. */
export interface Wanted extends Beginning {
  readonly alarm: Alarm
  /** Whether a pause of the alarm ends (`paused: false`). */
  readonly resumes?: boolean | undefined
}

/** What a set of a known key did. */
export interface SetAgain {
  readonly change: Change
  /** `restarted`: the alarm had ended, and starts afresh. */
  readonly outcome: 'replaced' | 'restarted' | 'unchanged'
}

/**
 * Sets a known key again. A living alarm that is defined so already stays as it is: its next occurrence, its open ones, and
 * its pause. So programs can set their alarms at every start, and a start after a downtime loses nothing that was due.
 */
export function setAgain(snapshot: Snapshot, wanted: Wanted, context: Context): SetAgain {
  const { alarm, timers, outcome } = snapshot
  const isLiving = !isEnd(stateOf(alarm, timers, outcome)) && alarm.cancelledAt === null
  const declaredBy = wanted.alarm.declaredBy ?? alarm.declaredBy
  if (!isLiving) {
    if (!isDone(snapshot, wanted.alarm)) return { change: replaceBy(true), outcome: 'restarted' }
    // Retention keeps what a list declares, or the next start would set it anew.
    return {
      change: declaredBy === alarm.declaredBy ? {} : { alarm: { ...alarm, declaredBy } },
      outcome: 'unchanged',
    }
  }
  if (!isSameDefinition(alarm, wanted.alarm)) {
    // A set that changes the alarm takes it over: a list that declared it must not cancel it any more.
    const change = goesOn(snapshot, wanted, context) ? amendBy() : replaceBy(wanted.resumes === true)
    return { change, outcome: 'replaced' }
  }
  const declared = declaredBy === alarm.declaredBy ? alarm : { ...alarm, declaredBy }
  if (wanted.resumes === true && alarm.pausedAt !== null)
    return { change: resume({ ...snapshot, alarm: declared }, context), outcome: 'replaced' }
  return { change: declared === alarm ? {} : { alarm: declared }, outcome: 'unchanged' }

  function correlationId(): string {
    return givesCorrelationId(wanted.alarm) ? wanted.alarm.correlationId : alarm.id
  }

  function amendBy(): Change {
    const { id, createdAt, registeredAt, generation, rule, calendars, pausedAt, cancelledAt } = alarm
    const kept = { id, createdAt, registeredAt, generation, rule, calendars, pausedAt, cancelledAt }
    const fields = { ...wanted.alarm, ...kept, correlationId: correlationId() }
    const change = amend(snapshot, fields, context)
    if (wanted.resumes !== true || alarm.pausedAt === null) return change
    const resumed = resume({ ...snapshot, alarm: { ...alarm, ...fields } }, context)
    return { ...resumed, update: [...(change.update ?? []), ...(resumed.update ?? [])] }
  }

  function replaceBy(resumes: boolean): Change {
    const notes = [...wanted.alarm.notes, ...zoneNotes(alarm, wanted.alarm)]
    const by = { ...wanted, alarm: { ...wanted.alarm, correlationId: correlationId(), notes }, resumes }
    return replace(snapshot, by, 'set_again', context)
  }
}

/**
 * Whether the alarm goes on with its rule, and only its options change: its next occurrence, what it counts from, a snooze.
 * Otherwise a list whose payload has the version of the program would start every interval anew at each deploy. A one-shot
 * that has come due starts over: it may have been delivered, and its receiver would not take the same occurrence again.
 */
function goesOn({ alarm, timers }: Snapshot, wanted: Wanted, { now }: Context): boolean {
  if (!isSameRule(alarm.rule, wanted.alarm.rule)) return false
  return recurs(alarm) || timers.every(({ scheduledFor }) => scheduledFor > now)
}

/**
 * What a changed time zone does to a rule that is the same otherwise. Mostly nobody meant it: a program that names no zone
 * was deployed to a machine with another one, and every schedule moves.
 */
function zoneNotes({ rule: was }: Alarm, { rule }: Alarm): string[] {
  if (was.kind === 'once' || rule.kind === 'once' || was.timezone === rule.timezone) return []
  return [`the time zone was ${was.timezone} before this set, and is ${rule.timezone} now`]
}

/**
 * Whether an ended alarm is what `apply` declares: a one-shot of the same instant, or of one that had passed when it ended
 * because somebody had moved it; or a rule that has run out. At the next start it must not fire again.
 */
function isDone({ alarm, outcome }: Snapshot, wanted: Alarm): boolean {
  if (wanted.declaredBy === null) return false
  // What was removed from its list and is declared again starts afresh.
  if (outcome?.status === 'cancelled' && alarm.declaredBy === null) return false
  if (alarm.rule.kind === 'once' && wanted.rule.kind === 'once') {
    const endedAt = outcome?.completedAt ?? outcome?.lastFiredAt ?? alarm.cancelledAt ?? alarm.rule.at
    return wanted.rule.at === askedAt(alarm.rule) || wanted.rule.at <= endedAt
  }
  return outcome?.status === 'completed' && isSameRule(alarm.rule, wanted.rule)
}
