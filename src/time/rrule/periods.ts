import {
  atPositions,
  type Blocks,
  DAY_S,
  dateOf,
  flattened,
  gcd,
  isLeap,
  list,
  mod,
  monthStarts,
  product,
  type Sequence,
  weekdayOf,
  yearOf,
  yearStart,
} from '../civil/index.ts'
import { daysOfMonth, daysOfYear } from './days.ts'
import type { RruleParts } from './parts.ts'

/** Years, months or weeks by id: the one of a day, its first day, and the days that the rule names in it. */
interface Period {
  of(day: number): number
  start(id: number): number
  days(id: number): Sequence
  /** How many of them are 400 years, after which the calendar repeats. */
  cycle: number
}

/** The blocks of a yearly, monthly or weekly rule. Parts that the rule leaves out come from its start. */
export function periodBlocks(parts: RruleParts, startS: number): Blocks {
  const startDay = Math.floor(startS / DAY_S)
  const period = periodOf(parts, startDay)
  const first = period.of(startDay)
  const times = timesOfDay(parts, startS)
  const { interval, bySetPos } = parts
  return {
    idAt(second) {
      const id = period.of(Math.floor(second / DAY_S))
      return id <= first ? first : id + mod(first - id, interval)
    },
    nextId: (id) => id + interval,
    block(id) {
      const all = product(period.days(id), DAY_S, times)
      return { start: period.start(id) * DAY_S, instances: bySetPos ? atPositions(all, bySetPos) : all }
    },
    cycle: (period.cycle / gcd(period.cycle, interval)) * interval,
    dailyMax: times.length,
    cost: bySetPos === undefined ? 1 : 1 + bySetPos.length / 4,
  }
}

/** The times of day that a rule names; parts it leaves out come from its start. */
export function timesOfDay(parts: RruleParts, startS: number): Sequence {
  const hours = parts.byHour ?? [Math.floor(mod(startS, DAY_S) / 3600)]
  return flattened(product(list(hours), 3600, timesOfHour(parts, startS)))
}

/** The seconds of an hour that a rule names; parts it leaves out come from its start. */
export function timesOfHour({ byMinute, bySecond }: RruleParts, startS: number): Sequence {
  const minutes = byMinute ?? [Math.floor(mod(startS, 3600) / 60)]
  return product(list(minutes), 60, list(bySecond ?? [mod(startS, 60)]))
}

function periodOf(parts: RruleParts, startDay: number): Period {
  if (parts.freq === 'WEEKLY') return weeks(parts, startDay)
  return parts.freq === 'MONTHLY' ? months(parts, startDay) : years(parts, startDay)
}

function years(parts: RruleParts, startDay: number): Period {
  const { byWeekNo, byYearDay, byMonthDay, byDay, byMonth } = parts
  const start = dateOf(startDay)
  const open = byYearDay === undefined && byMonthDay === undefined && byDay === undefined
  // A rule that names weeks repeats on the weekday of its start; one that names no day, on the date of its start.
  const filled =
    open && byWeekNo !== undefined
      ? { ...parts, byDay: [{ weekday: weekdayOf(startDay), nth: 0 }] }
      : open
        ? { ...parts, byMonth: byMonth ?? [start.month], byMonthDay: [start.dayOfMonth] }
        : parts
  return { of: yearOf, start: yearStart, days: daysOfYear(filled), cycle: 400 }
}

function months(parts: RruleParts, startDay: number): Period {
  const open = parts.byMonthDay === undefined && parts.byDay === undefined
  const days = daysOfMonth(open ? { ...parts, byMonthDay: [dateOf(startDay).dayOfMonth] } : parts)
  return {
    of(day) {
      const { year, month } = dateOf(day)
      return year * 12 + month - 1
    },
    start(id) {
      const year = Math.floor(id / 12)
      return yearStart(year) + monthStarts(isLeap(year))[id - year * 12]!
    },
    days(id) {
      const year = Math.floor(id / 12)
      return days(year, id - year * 12)
    },
    cycle: 4800,
  }
}

function weeks({ byDay, byMonth, wkst }: RruleParts, startDay: number): Period {
  const weekdays = byDay?.map((day) => day.weekday) ?? [weekdayOf(startDay)]
  const offsets = [...new Set(weekdays.map((weekday) => mod(weekday - wkst, 7)))].sort((a, b) => a - b)
  const all = list(offsets)
  const start = (id: number) => id * 7 - 3 + wkst
  return {
    of: (day) => Math.floor((day + 3 - wkst) / 7),
    start,
    days(id) {
      if (byMonth === undefined) return all
      const monday = start(id)
      return list(offsets.filter((offset) => byMonth.includes(dateOf(monday + offset).month)))
    },
    cycle: 20_871,
  }
}
