import {
  atPositions,
  type Blocks,
  DAY_S,
  dateOf,
  dayFinder,
  everyDay,
  flattened,
  gcd,
  isLeap,
  list,
  mod,
  monthStarts,
  product,
  SEARCH_WORK_MAX,
  type Sequence,
  stride,
  WALL_S_MAX,
  weekdayOf,
  yearBlocks,
  yearOf,
  yearStart,
} from '../civil/index.ts'
import { measureSearchWork, recordSearchWork } from '../clock/index.ts'
import { Cache } from '../text/index.ts'
import { daysOfMonth, daysOfYear } from './days.ts'
import type { RruleParts } from './parts.ts'

const DAYS_PER_400_YEARS = 146_097
/** Only rules whose interval is aligned with the days again within this many days are cached. */
const ALIGNMENT_DAYS_MAX = 2000
/**
 * The units of a day in which a rule has instances, by the rule and the first unit of its interval in that day. Some are
 * thousands of numbers: 250,000 for all rules are a few megabytes.
 */
const alignedUnitsCache = new Cache<number, Sequence>(250_000, ({ length }) => 50 + length)
const ALL_24 = stride(0, 1, 24)
const ALL_60 = stride(0, 1, 60)

/**
 * Years, months or weeks by id: the one of a day, its first day, and the days that the rule names in it, counted from the
 * first.
 */
interface Period {
  of(day: number): number
  start(id: number): number
  dayOffsets(id: number): Sequence
  /** How many of them are 400 years, after which the calendar repeats. */
  cycle: number
}

/** The blocks (`Blocks` in `civil/`) of a yearly, monthly or weekly rule. Parts that the rule leaves out come from its start. */
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
      const all = product(period.dayOffsets(id), DAY_S, times)
      return { start: period.start(id) * DAY_S, instances: bySetPos ? atPositions(all, bySetPos) : all }
    },
    cycle: (period.cycle / gcd(period.cycle, interval)) * interval,
    dailyMax: times.length,
    // A position of BYSETPOS counts as a quarter of a block.
    cost: bySetPos === undefined ? 1 : 1 + bySetPos.length / 4,
  }
}

/** The times of day that a rule names; parts it leaves out come from its start. */
function timesOfDay(parts: RruleParts, startS: number): Sequence {
  const hours = parts.byHour ?? [Math.floor(mod(startS, DAY_S) / 3600)]
  return flattened(product(list(hours), 3600, timesOfHour(parts, startS)))
}

/** The seconds of an hour that a rule names; parts it leaves out come from its start. */
function timesOfHour({ byMinute, bySecond }: RruleParts, startS: number): Sequence {
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
  const hasNoDay = byYearDay === undefined && byMonthDay === undefined && byDay === undefined
  // A rule that names weeks repeats on the weekday of its start; one that names no day, on the date of its start. BYMONTH names
  // no day.
  const withStartDay =
    hasNoDay && byWeekNo !== undefined
      ? { ...parts, byDay: [{ weekday: weekdayOf(startDay), nth: 0 }] }
      : hasNoDay
        ? { ...parts, byMonth: byMonth ?? [start.month], byMonthDay: [start.dayOfMonth] }
        : parts
  return { of: yearOf, start: yearStart, dayOffsets: daysOfYear(withStartDay), cycle: 400 }
}

function months(parts: RruleParts, startDay: number): Period {
  const hasNoDay = parts.byMonthDay === undefined && parts.byDay === undefined
  const days = daysOfMonth(hasNoDay ? { ...parts, byMonthDay: [dateOf(startDay).dayOfMonth] } : parts)
  return {
    of(day) {
      const { year, month } = dateOf(day)
      return year * 12 + month - 1
    },
    start(id) {
      const year = Math.floor(id / 12)
      return yearStart(year) + monthStarts(isLeap(year))[id - year * 12]!
    },
    dayOffsets(id) {
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
  // Day 0, 1 January 1970, is a Thursday, three days after a Monday.
  const start = (id: number) => id * 7 - 3 + wkst
  return {
    of: (day) => Math.floor((day + 3 - wkst) / 7),
    start,
    dayOffsets(id) {
      if (byMonth === undefined) return all
      const firstDay = start(id)
      return list(offsets.filter((offset) => byMonth.includes(dateOf(firstDay + offset).month)))
    },
    cycle: 20_871,
  }
}

/** The blocks of a rule whose frequency is a unit of `unitS` seconds: a day, an hour, a minute or a second. Parts it leaves out come from its start. */
export function unitBlocks(parts: RruleParts, startS: number, unitS: number): Blocks {
  const perDay = DAY_S / unitS
  const { interval } = parts
  const first = Math.floor(startS / unitS)
  // After this many days the interval is aligned with the days again.
  const alignmentDays = interval / gcd(interval, perDay)
  const named = namedUnits(parts)
  const seconds = secondsOf(parts, startS)
  const cacheKey = `${parts.freq} ${interval} ${parts.byHour} ${parts.byMinute} ${parts.bySecond}`
  const alignedUnits = (firstUnit: number) => {
    if (named === null) return stride(firstUnit, interval, perDay)
    if (interval === 1) return named
    const find = () => namedAtInterval(named, firstUnit, interval)
    return alignmentDays <= ALIGNMENT_DAYS_MAX ? alignedUnitsCache.get(cacheKey, firstUnit, find) : find()
  }
  const days = namesNoDay(parts) ? everyDay : daysOfYear(parts)
  if (alignmentDays === 1) {
    return yearBlocks(days, product(alignedUnits(mod(first, interval)), unitS, seconds), startS)
  }
  const dayFrom = alignedDayFinder(dayFinder(days), interval, first, perDay)
  return {
    idAt: (second) => dayFrom(Math.floor(Math.max(second, startS) / DAY_S)),
    nextId: (day) => dayFrom(day + 1),
    block: (day) => ({
      start: day * DAY_S,
      instances: product(alignedUnits(mod(first - day * perDay, interval)), unitS, seconds),
    }),
    cycle: (DAYS_PER_400_YEARS / gcd(DAYS_PER_400_YEARS, alignmentDays)) * alignmentDays,
    dailyMax: Math.ceil(perDay / interval) * seconds.length,
    // Without the cache, the units are searched again for every day.
    cost:
      named === null || alignmentDays <= ALIGNMENT_DAYS_MAX
        ? 1
        : 2 + Math.min(named.length, perDay / interval),
  }
}

/** Returns a search for the first day, at or after another, that the rule names and in which its interval has a unit. */
function alignedDayFinder(
  nextNamed: (from: number) => number,
  interval: number,
  first: number,
  perDay: number,
): (from: number) => number {
  const firstDay = Math.floor(first / perDay)
  // The fast path for most rules, which have a unit every day: this runs for every day of a search.
  if (interval <= perDay) return (from) => nextNamed(Math.max(from, firstDay))
  return (from) => {
    const work = measureSearchWork()
    for (let day = from; day * DAY_S <= WALL_S_MAX && work() < SEARCH_WORK_MAX; ) {
      recordSearchWork(1)
      const unit = Math.max(day * perDay, first)
      const reached = Math.floor((unit + mod(first - unit, interval)) / perDay)
      day = nextNamed(reached)
      if (day === reached) return day
    }
    return Number.POSITIVE_INFINITY
  }
}

function namesNoDay({ byMonth, byYearDay, byMonthDay, byDay }: RruleParts): boolean {
  return [byMonth, byYearDay, byMonthDay, byDay].every((part) => part === undefined)
}

/** The units of a day that a rule names; null if it names none, and so has all. */
function namedUnits({ freq, byHour, byMinute, bySecond }: RruleParts): Sequence | null {
  if (freq === 'DAILY') return null
  const hours = byHour === undefined ? ALL_24 : list(byHour)
  if (freq === 'HOURLY') return byHour === undefined ? null : hours
  const minutes = byMinute === undefined ? ALL_60 : list(byMinute)
  if (freq === 'MINUTELY') return byHour || byMinute ? product(hours, 60, minutes) : null
  if (!(byHour || byMinute || bySecond)) return null
  return product(hours, 3600, product(minutes, 60, bySecond === undefined ? ALL_60 : list(bySecond)))
}

/** The seconds of a unit that a rule names, after BYSETPOS; they are the same in every unit. */
function secondsOf(parts: RruleParts, startS: number): Sequence {
  const all = {
    DAILY: () => timesOfDay(parts, startS),
    HOURLY: () => timesOfHour(parts, startS),
    MINUTELY: () => list(parts.bySecond ?? [mod(startS, 60)]),
    SECONDLY: () => list([0]),
  }[parts.freq as string]!()
  return parts.bySetPos === undefined ? all : atPositions(all, parts.bySetPos)
}

/** Those of the named units that are a multiple of the interval after `firstUnit`. */
function namedAtInterval(named: Sequence, firstUnit: number, interval: number): Sequence {
  const found: number[] = []
  for (let unit = firstUnit; ; ) {
    const index = named.indexFrom(unit)
    if (index >= named.length) return list(found)
    const next = named.at(index)
    if (next === unit) found.push(unit)
    unit = next === unit ? unit + interval : next + mod(firstUnit - next, interval)
  }
}
