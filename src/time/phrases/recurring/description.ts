import type { Temporal } from 'temporal-polyfill'
import {
  counted,
  joinWithAnd,
  MONTH_NAMES,
  ordinalName,
  pad2,
  UNIT_MS,
  WEEKDAY_NAMES,
} from '../../text/index.ts'
import type { ParsedTime } from '../time-of-day.ts'
import type { CalendarFrequency } from './parsed.ts'
import type { Recurrence } from './resolve.ts'

const LENGTHS = Object.entries(UNIT_MS).map(([units, ms]) => [ms, units.slice(0, -1)] as const)

/** The recurrence as a phrase in canonical form; parsed again, it gives the same rule. */
export function canonicalPhrase(recurrence: Recurrence, anchor: Temporal.PlainDateTime | undefined): string {
  const { frequency, times, start, end, count } = recurrence
  const isInterval = 'everyMs' in frequency
  const head = isInterval
    ? intervalWords(recurrence, frequency.everyMs)
    : calendarWords(recurrence, frequency)
  const at = times.length === 0 ? '' : ` at ${joinWithAnd(times.map(timeWords))}`
  const from = anchor === undefined ? startWords(start, isInterval) : anchorWords(anchor, times)
  const until = end === undefined ? '' : ` until ${endWords(end)}`
  return `${head}${at}${exceptWords(recurrence)}${from}${until}${count === undefined ? '' : `, ${count} times`}`
}

function exceptWords({ calendars = [], exceptedDays = [] }: Recurrence): string {
  const names = [...exceptedDays.map((day) => WEEKDAY_NAMES[day - 1]!), ...calendars]
  return names.length === 0 ? '' : ` except ${joinWithAnd(names)}`
}

function intervalWords(recurrence: Recurrence, everyMs: number): string {
  const { weekdays, window, minutePast } = recurrence
  const length = lengthWords(everyMs)
  const past = minutePast === undefined ? '' : ` at :${pad2(minutePast)}`
  const span = window === undefined ? '' : ` between ${pad2(window.from)}:00 and ${pad2(window.to)}:00`
  const days = weekdays === undefined ? '' : ` on ${weekdayWords(weekdays, 's', recurrence)}`
  return `every ${length}${past}${span}${days}`
}

/** In the largest unit that divides it; fractions of a second in all units, because no single one reads well. */
function lengthWords(everyMs: number): string {
  const [ms, unit] = LENGTHS.find(([length]) => everyMs % length === 0)!
  if (ms > 1) return everyCount(everyMs / ms, unit)
  let left = everyMs
  const parts = LENGTHS.map(([length, name]) => {
    const count = Math.floor(left / length)
    left -= count * length
    return count === 0 ? '' : counted(count, name)
  })
  return joinWithAnd(parts.filter((part) => part !== ''))
}

function calendarWords(recurrence: Recurrence, { unit, interval }: CalendarFrequency): string {
  const { weekdays, months, monthDays, nths, workingDay, clampedDay } = recurrence
  const every = `every ${everyCount(interval, unit)}`
  if (clampedDay !== undefined) return every
  const dayOfMonth = dayOfMonthWords(recurrence)
  if (unit === 'month') return `on the ${dayOfMonth} of ${every}`
  if (unit === 'year') {
    const [day, more] = monthDays ?? []
    const isDate =
      months?.length === 1 && typeof day === 'number' && more === undefined && !nths && !workingDay
    const date = isDate ? `${monthWords(months)} ${day}` : `the ${dayOfMonth} of ${monthWords(months)}`
    return `${every} on ${date}`
  }
  const within = months === undefined ? '' : ` in ${monthWords(months)}`
  if (weekdays === undefined) return `${every}${within}`
  if (interval === 1) return `every ${weekdayWords(weekdays, '', recurrence)}${within}`
  return `${every} on ${weekdayWords(weekdays, 's', recurrence)}`
}

function dayOfMonthWords({ nths = [], monthDays = [], workingDay }: Recurrence): string {
  if (workingDay !== undefined) return `${positionName(workingDay)} working day`
  return joinWithAnd([
    ...nths.map(({ nth, weekday }) => `${ordinalName(nth)} ${WEEKDAY_NAMES[weekday - 1]}`),
    ...monthDays.filter((day) => typeof day === 'number').map(ordinalWords),
    ...monthDays.filter((day) => typeof day !== 'number').map((day) => (day === 'last' ? 'last day' : day)),
  ])
}

function positionName(nth: number): string {
  return nth > 5 ? ordinalWords(nth) : ordinalName(nth)
}

function ordinalWords(number: number): string {
  const ending = number > 10 && number < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}

/** 'weekday' or 'Monday and Thursday'; a group is in the plural after 'on'. */
function weekdayWords(weekdays: number[], plural: '' | 's', { workingDays, except }: Recurrence): string {
  if (workingDays && except === undefined) return `working day${plural}`
  if (weekdays.join() === '1,2,3,4,5') return `weekday${plural}`
  const [first, last] = [weekdays[0]!, weekdays.at(-1)!]
  if (weekdays.length > 2 && last - first === weekdays.length - 1) {
    return `${WEEKDAY_NAMES[first - 1]} to ${WEEKDAY_NAMES[last - 1]}`
  }
  return joinWithAnd(weekdays.map((day) => WEEKDAY_NAMES[day - 1]!))
}

function monthWords(months: number[] = []): string {
  return joinWithAnd(months.map((month) => MONTH_NAMES[month - 1]!))
}

function timeWords({ hour, minute, second }: ParsedTime): string {
  return `${pad2(hour)}:${pad2(minute)}${second === 0 ? '' : `:${pad2(second)}`}`
}

/** The start of an interval is its first instant; that of a calendar rule is a day, unless it has a time. */
function startWords(start: string | undefined, interval: boolean): string {
  if (start === undefined) return ''
  return ` starting ${!interval && start.endsWith('T00:00:00') ? start.slice(0, 10) : momentWords(start)}`
}

/** The day it is counted from, with the time if that is not the first of its day. */
function anchorWords(anchor: Temporal.PlainDateTime, times: ParsedTime[]): string {
  const day = ` starting ${anchor.toPlainDate()}`
  const [at, first] = [timeWords(anchor), timeWords(times[0]!)]
  return at === first ? day : `${day} at ${at}`
}

function endWords(end: string): string {
  return end.endsWith('T23:59:59.999') ? end.slice(0, 10) : momentWords(end)
}

function momentWords(moment: string): string {
  const wall = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):(\d\d)$/.exec(moment)
  return wall === null ? moment : `${wall[1]} at ${wall[2]}${wall[3] === '00' ? '' : `:${wall[3]}`}`
}

function everyCount(count: number, unit: string): string {
  return count === 1 ? unit : counted(count, unit)
}
