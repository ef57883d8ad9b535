import { describeExclusion } from '../calendars/index.ts'
import { eitherDay, parseCron } from '../cron/index.ts'
import { formatDuration } from '../durations/index.ts'
import { describeRrule } from '../rrule/index.ts'
import { joinWithAnd, MONTH_NAMES, WEEKDAY_NAMES, WEEKDAYS } from '../text/index.ts'
import { formatLocal, formatTimeOfDay, zoned } from '../zones/index.ts'
import type { CalendarEvery, RecurringRule, Rule } from './rule.ts'
import { instantsOf, intervalOf } from './schedule.ts'

/** By the numbers of cron, where Sunday is 0 and 7. */
const DAYS = ['Sunday', ...WEEKDAY_NAMES]

/** Describes the rule in words, so that people can check that it is what they meant. */
export function describe(rule: Rule): string {
  const missed = describeMisfire(rule)
  const times = describeTimes(rule)
  return missed === '' ? times : `${times}; ${missed}`
}

/** Describes when the rule fires, without what happens to missed instants. */
export function describeTimes(rule: Rule): string {
  return rule.kind === 'once'
    ? `once, at ${formatLocal(rule.at, rule.timezone)}`
    : `${frequencyWords(rule)}${daysOffWords(rule)}${bounds(rule)}`
}

function frequencyWords(rule: RecurringRule): string {
  const everyMs = intervalOf(rule)
  if (everyMs !== null) return `every ${formatDuration(everyMs)}`
  return `${calendarWords(rule)}, in ${rule.timezone}${describeDst(rule)}`
}

/** Intervals are described without a zone, so it is added here: days off are local dates. */
function daysOffWords(rule: RecurringRule): string {
  if (rule.exclude === undefined) return ''
  const zone = intervalOf(rule) === null ? '' : `, in ${rule.timezone}`
  return `${zone}${describeExclusion(rule.exclude)}`
}

function calendarWords(rule: RecurringRule): string {
  if (rule.kind === 'rrule') return describeRrule(rule.rrule)
  if (rule.kind === 'every') return monthWords(rule as CalendarEvery)
  const { fields } = parseCron(rule.cron)
  const either = eitherDay(fields) === null ? '' : ', on days that match either of its day fields'
  return cronWords(fields) ?? `at the times of cron '${rule.cron}'${either}`
}

/** A step of months or years, with a note if shorter months lack the day. */
function monthWords({ everyMonths, anchor, timezone }: CalendarEvery): string {
  const at = zoned(timezone, anchor)
  const years = everyMonths % 12 === 0
  const count = years ? everyMonths / 12 : everyMonths
  const unit = years ? 'year' : 'month'
  const pace = count === 1 ? `every ${unit}` : `every ${count} ${unit}s`
  const day = years ? `on ${MONTH_NAMES[at.month - 1]} ${at.day}` : `on day ${at.day}`
  // A yearly step is always in the same month, of which only February has years with fewer days.
  const daysAlways = years && at.month !== 2 ? 31 : 28
  const shorter = at.day > daysAlways ? ', or the last of the month,' : ''
  return `${pace} ${day}${shorter} at ${formatTimeOfDay(at)}`
}

/** Describes the rule's own policy for clock changes; empty if it has none. */
export function describeDst(rule: RecurringRule): string {
  const dst = 'dst' in rule ? rule.dst : undefined
  if (dst === undefined || instantsOf(rule).interval) return ''
  const gap = dst.gap === 'skip' ? ', skipping times that do not exist' : ''
  const which = dst.overlap === 'last' ? 'the last' : 'both'
  return `${gap}${dst.overlap === 'first' ? '' : `, on ${which} of times that occur twice`}`
}

/** Words for the common shapes of cron; null for the rest, which are clearer as they are. */
function cronWords(fields: string): string | null {
  const [minute = '', hour = '', day = '', month, weekday = '', more] = fields.split(' ')
  if (more !== undefined || month !== '*')
    return fields === '0 0 1 1 *' ? 'every year on January 1 at 00:00' : null
  const time = timeWords(minute, hour)
  if (time === null) return null
  // The others say how often it fires, such as 'every 15 minutes'.
  if (day === '*' && weekday === '*') return time.startsWith('at ') ? `every day ${time}` : time
  const days = day === '*' ? weekdayWords(weekday) : weekday === '*' ? monthDayWords(day) : null
  return days === null ? null : `${days} ${time}`
}

function monthDayWords(day: string): string | null {
  if (/^L$/i.test(day)) return 'on the last day of every month'
  return /^\d+$/.test(day) ? `on day ${day} of every month` : null
}

/** For '*\/15' within '9-16': from the first to the last minute of these hours. */
function windowWords(step: string, hour: string): string | null {
  const [, first, last] = /^(\d{1,2})-(\d{1,2})$/.exec(hour) ?? []
  if (first === undefined || last === undefined || 60 % Number(step) !== 0) return null
  const pace = Number(step) === 1 ? 'every minute' : `every ${step} minutes`
  return `${pace} from ${first.padStart(2, '0')}:00 to ${last.padStart(2, '0')}:59`
}

function timeWords(minute: string, hour: string): string | null {
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (hour === '*' && minute === '*') return 'every minute'
  if (hour === '*' && step !== undefined && 60 % Number(step) === 0) return `every ${step} minutes`
  if (step !== undefined || minute === '*') return windowWords(step ?? '1', hour)
  if (!/^\d+$/.test(minute)) return null
  const minutes = minute.padStart(2, '0')
  if (hour === '*') return `every hour at :${minutes}`
  const hours = /^\*\/(\d+)$/.exec(hour)?.[1]
  if (hours !== undefined && 24 % Number(hours) === 0 && Number(hours) < 24) {
    return `every ${hours} hours at :${minutes}`
  }
  if (!/^\d+(?:,\d+)*$/.test(hour)) return null
  return `at ${joinWithAnd(hour.split(',').map((each) => `${each.padStart(2, '0')}:${minutes}`))}`
}

function weekdayWords(field: string): string | null {
  const days = field.replace(/[a-z]{3}/gi, (name) => String(WEEKDAYS.get(name.toLowerCase()) ?? name))
  const [, first, last] = /^([0-7])-([0-7])$/.exec(days) ?? []
  if (first !== undefined) return `${DAYS[Number(first)]} to ${DAYS[Number(last)]}`
  if (!/^[0-7](?:,[0-7])*$/.test(days)) return null
  return `every ${joinWithAnd(days.split(',').map((each) => DAYS[Number(each)]!))}`
}

function bounds(rule: RecurringRule): string {
  const from = rule.start === undefined ? '' : `, from ${formatBound(rule.start, rule)}`
  const until = rule.end === undefined ? '' : `, until ${formatBound(rule.end, rule)}`
  const times = rule.count === undefined ? '' : `, ${rule.count === 1 ? 'once' : `${rule.count} times`}`
  return `${from}${until}${times}${describeJitter(rule)}`
}

/** A bound in the rule's zone, with its offset but without the zone, which the description names already. */
function formatBound(at: number, { timezone }: RecurringRule): string {
  return zoned(timezone, at).toString({ timeZoneName: 'never' })
}

/** Describes the jitter of a rule; empty if it has none. */
export function describeJitter({ jitterMs }: RecurringRule): string {
  return jitterMs === undefined ? '' : `, each up to ${formatDuration(jitterMs)} later`
}

/** Describes what happens to missed instants; empty for the default. */
export function describeMisfire({ kind, misfire }: Rule): string {
  if (misfire === undefined || misfire === 'once') return ''
  if (kind === 'once') return 'if missed: it does not fire'
  if (misfire === 'skip') return 'missed ticks: none fire'
  const { max, withinMs } = misfire.all
  const most = `at most ${max.toLocaleString('en-US')}`
  return `missed ticks: all fire, ${most} of the last ${formatDuration(withinMs)}`
}
