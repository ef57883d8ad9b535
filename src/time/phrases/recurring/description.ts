import { counted, joinWithAnd, MONTH_NAMES, pad2, WEEKDAY_NAMES } from '../../text/index.ts'
import type { ParsedTime } from '../time-of-day.ts'
import type { MonthDay, ParsedDays } from './parsed.ts'
import type { Recurrence } from './resolve.ts'
import { ordinalName } from './resolve-days.ts'
import type { ParsedDaysOff } from './working-days.ts'

const LENGTHS: [number, string][] = [
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
  [1, 'millisecond'],
]

/** A recurrence with its days off. */
type DescribedRecurrence = Recurrence & ParsedDaysOff

/** The recurrence as a phrase in canonical form; parsed again, it gives the same rule. */
export function canonicalPhrase(
  recurrence: DescribedRecurrence,
  anchor: Temporal.PlainDateTime | undefined,
): string {
  const { frequency, times, start, end, count } = recurrence
  const head =
    'everyMs' in frequency ? intervalWords(recurrence, frequency.everyMs) : calendarWords(recurrence)
  const at = times.length === 0 ? '' : ` at ${joinWithAnd(times.map(timeWords))}`
  const from = anchor === undefined ? startWords(start, 'everyMs' in frequency) : anchorWords(anchor, times)
  const until = end === undefined ? '' : ` until ${endWords(end)}`
  return `${head}${at}${exceptWords(recurrence)}${from}${until}${count === undefined ? '' : `, ${count} times`}`
}

function exceptWords({ calendars = [], exceptedDays = [] }: DescribedRecurrence): string {
  const names = [...exceptedDays.map((day) => WEEKDAY_NAMES[day - 1]!), ...calendars]
  return names.length === 0 ? '' : ` except ${joinWithAnd(names)}`
}

function intervalWords(
  { weekdays, window, minutePast, workingDays }: DescribedRecurrence,
  everyMs: number,
): string {
  const length = lengthWords(everyMs)
  const past = minutePast === undefined ? '' : ` at :${pad2(minutePast)}`
  const span = window === undefined ? '' : ` between ${pad2(window.from)}:00 and ${pad2(window.to)}:00`
  return `every ${length}${past}${span}${weekdays === undefined ? '' : ` on ${weekdayWords(weekdays, 's', workingDays)}`}`
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

function calendarWords(recurrence: DescribedRecurrence): string {
  const { weekdays, months, monthDays, nths, workingDays, workingDay } = recurrence
  const { unit, interval } = recurrence.frequency as { unit: string; interval: number }
  const every = `every ${everyCount(interval, unit)}`
  if (unit === 'month') return `on the ${dayOfMonthWords(recurrence)} of ${every}`
  if (unit === 'year') {
    const [day] = monthDays ?? []
    const plain =
      months?.length === 1 && monthDays?.length === 1 && typeof day === 'number' && !nths && !workingDay
    return `${every} on ${plain ? `${monthWords(months)} ${day}` : `the ${dayOfMonthWords(recurrence)} of ${monthWords(months)}`}`
  }
  const within = months === undefined ? '' : ` in ${monthWords(months)}`
  if (weekdays === undefined) return `${every}${within}`
  const days = weekdayWords(weekdays, '', workingDays)
  return interval === 1 ? `every ${days}${within}` : `${every} on ${weekdayWords(weekdays, 's', workingDays)}`
}

function dayOfMonthWords({ nths = [], monthDays = [], workingDay }: ParsedDays & ParsedDaysOff): string {
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

function ordinalWords(day: MonthDay): string {
  const number = Number(day)
  const ending = number > 10 && number < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}

/** 'weekday' or 'Monday and Thursday'; a group is in the plural after 'on'. */
function weekdayWords(weekdays: number[], plural: '' | 's', working?: true): string {
  if (working) return `working day${plural}`
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
  return ` starting ${interval ? momentWords(start) : start.endsWith('T00:00:00') ? start.slice(0, 10) : momentWords(start)}`
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
