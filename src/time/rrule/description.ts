import { DAY_S, dateOf, mod, weekdayOf } from '../civil/index.ts'
import { counted, joinWithAnd, MONTH_NAMES, ORDINAL_NAMES, pad2, WEEKDAY_NAMES } from '../text/index.ts'
import type { RruleDate, RruleParts, RruleWeekday } from './parts.ts'
import { parseRrule, type RruleText } from './text.ts'

const NTH: Readonly<Record<number, string>> = {
  ...Object.fromEntries(ORDINAL_NAMES.map((name, index) => [index + 1, name])),
  [-1]: 'last',
  [-2]: 'second to last',
}
const UNITS = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
}
const QUOTED_LENGTH_MAX = 200

/** Describes common recurrences in words; the others are quoted, which is clearer. */
export function describeRrule(text: string): string {
  const read = parseRrule(text)
  const [parts, another] = read.rules
  const words = parts === undefined || another !== undefined ? null : ruleWords(parts, read.start)
  if (words !== null) return `${words}${boundWords(parts!, read)}`
  const line = text.trim().replace(/\s+/g, ' ')
  const quoted = line.length > QUOTED_LENGTH_MAX ? `${line.slice(0, QUOTED_LENGTH_MAX - 1)}…` : line
  return `at the times of rrule '${quoted}'`
}

function ruleWords(parts: RruleParts, start: RruleDate | undefined): string | null {
  if (parts.freq === 'HOURLY' || parts.freq === 'MINUTELY' || parts.freq === 'SECONDLY') {
    return Object.keys(parts).some((name) => name.startsWith('by')) ? null : every(parts)
  }
  const day = dayWords(parts, start)
  const time = timeWords(parts, start)
  return day === null || time === null ? null : `${day}${time}`
}

function dayWords(parts: RruleParts, start: RruleDate | undefined): string | null {
  const named = new Set(Object.keys(parts).filter((name) => /^by(?!Hour|Minute|Second)/.test(name)))
  const has = (...names: string[]) => named.size === names.length && names.every((name) => named.has(name))
  const date = start === undefined ? null : dateOf(Math.floor(start.second / DAY_S))
  const { byDay, byMonth, byMonthDay } = parts
  switch (parts.freq) {
    case 'DAILY':
      return has()
        ? every(parts)
        : has('byDay') && parts.interval === 1
          ? `every ${joinWithAnd(weekdays(byDay!))}`
          : null
    case 'WEEKLY': {
      if (!has() && !has('byDay')) return null
      const days = byDay ?? (start && [{ weekday: weekdayOf(Math.floor(start.second / DAY_S)), nth: 0 }])
      if (days === undefined) return every(parts)
      return parts.interval === 1 ? everyOf(days) : `${every(parts)} on ${joinWithAnd(weekdays(days))}`
    }
    case 'MONTHLY': {
      const days = has() && date !== null ? [date.dayOfMonth] : byMonthDay
      if (has() && days === undefined) return every(parts)
      if (has() || has('byMonthDay')) return onThe(monthDayWords(days!), every(parts))
      if (has('byDay')) return onThe(nthWords(byDay!), every(parts))
      const clamped = has('byMonthDay', 'bySetPos') ? clampedDay(parts) : undefined
      if (clamped !== undefined) return `${onThe(`day ${clamped}`, every(parts))}, or the last day`
      const pick =
        has('byDay', 'bySetPos') && parts.bySetPos!.length === 1 ? NTH[parts.bySetPos![0]!] : undefined
      if (pick === undefined || byDay!.some(({ nth }) => nth !== 0)) return null
      return onThe(`the ${pick} ${oneOf(byDay!)}`, every(parts))
    }
    default: {
      const months = byMonth ?? (date === null ? undefined : [date.month])
      const days = byMonthDay ?? (date === null ? undefined : [date.dayOfMonth])
      if (has() && months === undefined) return every(parts)
      if (has('byMonth', 'byDay') && byMonth!.length === 1) {
        const nth = nthWords(byDay!)
        return nth === null ? null : `${every(parts)} on ${nth} of ${MONTH_NAMES[byMonth![0]! - 1]}`
      }
      const isLeapDay =
        has('byMonth', 'byMonthDay', 'bySetPos') && months?.join() === '2' && clampedDay(parts) === 29
      if (isLeapDay) return `${every(parts)} on February 29, or 28 in common years`
      if (!has() && !has('byMonth', 'byMonthDay') && !has('byMonth')) return null
      if (months?.length !== 1 || days?.length !== 1 || days[0]! < 1) return null
      return `${every(parts)} on ${MONTH_NAMES[months[0]! - 1]} ${days[0]}`
    }
  }
}

/** The day of a rule that takes the last of days 28 to 31 that the month has, as 'monthly' does when it is set late in a month. */
function clampedDay({ byMonthDay = [], bySetPos = [], byHour }: RruleParts): number | undefined {
  const times = byHour?.length ?? 1
  if (bySetPos.length !== times || bySetPos.some((place) => place > -1 || place < -times)) return undefined
  return byMonthDay.every((day, index) => day === 28 + index) ? byMonthDay.at(-1) : undefined
}

function every({ freq, interval }: RruleParts): string {
  return interval === 1 ? `every ${UNITS[freq]}` : `every ${interval} ${UNITS[freq]}s`
}

function onThe(days: string | null, frequency: string): string | null {
  if (days === null) return null
  return frequency === 'every month' ? `on ${days} of every month` : `${frequency} on ${days}`
}

function monthDayWords(days: readonly number[]): string | null {
  if (days.length === 1 && days[0]! < 0)
    return NTH[days[0]!] === undefined ? null : `the ${NTH[days[0]!]} day`
  if (days.some((day) => day < 0)) return null
  return `${days.length === 1 ? 'day' : 'days'} ${joinWithAnd(days.map(String))}`
}

function nthWords(days: readonly RruleWeekday[]): string | null {
  if (days.some(({ nth }) => NTH[nth] === undefined)) return null
  return `the ${joinWithAnd(days.map(({ nth, weekday }) => `${NTH[nth]} ${WEEKDAY_NAMES[weekday]}`))}`
}

function everyOf(days: readonly RruleWeekday[]): string {
  return isWorkWeek(days) ? 'Monday to Friday' : `every ${joinWithAnd(weekdays(days))}`
}

function oneOf(days: readonly RruleWeekday[]): string {
  if (days.length === 7) return 'day'
  return isWorkWeek(days) ? 'day from Monday to Friday' : weekdays(days).join(' or ')
}

function isWorkWeek(days: readonly RruleWeekday[]): boolean {
  return days.length === 5 && days.every(({ weekday }) => weekday < 5)
}

function weekdays(days: readonly RruleWeekday[]): string[] {
  return days.map(({ weekday }) => WEEKDAY_NAMES[weekday]!)
}

function timeWords({ byHour, byMinute, bySecond }: RruleParts, start: RruleDate | undefined): string | null {
  const of = (divisor: number, range: number) =>
    start === undefined ? undefined : [mod(Math.floor(start.second / divisor), range)]
  const [hours, minutes, seconds] = [byHour ?? of(3600, 24), byMinute ?? of(60, 60), bySecond ?? of(1, 60)]
  if (hours === undefined && minutes === undefined && seconds === undefined) return ''
  if (hours === undefined || minutes?.length !== 1 || (seconds !== undefined && seconds.length !== 1))
    return null
  const second = seconds === undefined || seconds[0] === 0 ? '' : `:${pad2(seconds[0]!)}`
  return ` at ${joinWithAnd(hours.map((hour) => `${pad2(hour)}:${pad2(minutes[0]!)}${second}`))}`
}

function boundWords({ count, until }: RruleParts, { start, added, removed }: RruleText): string {
  return [
    start === undefined ? '' : `, from ${formatDate(start).slice(0, 10)}`,
    until === undefined ? '' : `, until ${formatDate(until)}`,
    count === undefined ? '' : `, ${count === 1 ? 'once' : `${count} times`}`,
    added.length === 0 ? '' : `, and on ${counted(added.length, 'date')} more`,
    removed.length === 0 ? '' : `, except on ${counted(removed.length, 'date')}`,
  ].join('')
}

function formatDate({ kind, second }: RruleDate): string {
  const iso = new Date(second * 1000).toISOString()
  if (kind === 'date') return iso.slice(0, 10)
  return `${iso.slice(0, 10)} ${iso.slice(11, iso.slice(17, 19) === '00' ? 16 : 19)}${kind === 'utc' ? ' UTC' : ''}`
}
