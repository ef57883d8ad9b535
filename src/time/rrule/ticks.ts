import { measureSearchWork, recordSearchWork } from '../clock/index.ts'
import { type Blocks, SEARCH_WORK_MAX } from './blocks.ts'
import { DAY_S, gcd, isLeap, mod, WALL_S_MAX, yearOf, yearStart } from './civil-date.ts'
import { daysOfYear } from './days.ts'
import type { RruleParts } from './parts.ts'
import { timesOfDay, timesOfHour } from './periods.ts'
import { atPositions, list, lowerBound, product, type Sequence, stride } from './sequence.ts'

const DAYS_PER_400_YEARS = 146_097
/** A rule whose interval realigns with the days only after more days than this is not cached. */
const CYCLE_CACHED_MAX = 2000
const ALL_24 = stride(0, 1, 24)
const ALL_60 = stride(0, 1, 60)

/** The blocks of a rule that repeats every `unitS` seconds, a day or less. Parts it leaves out come from its start. */
export function tickBlocks(parts: RruleParts, startS: number, unitS: number): Blocks {
  const perDay = DAY_S / unitS
  const { interval } = parts
  const first = Math.floor(startS / unitS)
  // After this many days the interval is aligned with the days again.
  const cycleDays = interval / gcd(interval, perDay)
  const named = limitsOf(parts)
  const seconds = secondsOf(parts, startS)
  const limits = `${parts.freq} ${interval} ${parts.byHour} ${parts.byMinute} ${parts.bySecond}`
  const alignedUnits = (step: number) => {
    if (named === null) return stride(step, interval, perDay)
    if (interval === 1) return named
    const find = () => alignedNumbers(named, step, interval)
    return list(cycleDays <= CYCLE_CACHED_MAX ? cachedNumbers(limits, step, find) : find())
  }
  if (cycleDays === 1) {
    return sameEveryDay(parts, startS, product(alignedUnits(mod(first, interval)), unitS, seconds))
  }
  const cycle = (DAYS_PER_400_YEARS / gcd(DAYS_PER_400_YEARS, cycleDays)) * cycleDays
  const dayFrom = alignedDays(parts, first, perDay, cycle)
  return {
    idAt: (second) => dayFrom(Math.floor(Math.max(second, startS) / DAY_S)),
    nextId: (day) => dayFrom(day + 1),
    block: (day) => ({
      start: day * DAY_S,
      instances: product(alignedUnits(mod(first - day * perDay, interval)), unitS, seconds),
    }),
    cycle,
    densityMax: { everyS: unitS * interval, count: seconds.length },
    cost: named === null || cycleDays <= CYCLE_CACHED_MAX ? 1 : 2 + Math.min(named.length, perDay / interval),
  }
}

/** Years as blocks, for rules with the same times on every named day. */
function sameEveryDay(parts: RruleParts, startS: number, times: Sequence): Blocks {
  const open = namesNoDay(parts)
  const days = daysOfYear(parts)
  return {
    idAt: (second) => yearOf(Math.floor(Math.max(second, startS) / DAY_S)),
    nextId: (year) => year + 1,
    block(year) {
      const named = open ? stride(0, 1, isLeap(year) ? 366 : 365) : list(days(year))
      return { start: yearStart(year) * DAY_S, instances: product(named, DAY_S, times) }
    },
    cycle: 400,
    densityMax: { everyS: DAY_S, count: times.length },
  }
}

/** Finds the first day, at or after another, that the rule names and in which its interval has a unit. */
function alignedDays(
  parts: RruleParts,
  first: number,
  perDay: number,
  cycle: number,
): (from: number) => number {
  const { interval } = parts
  const nextNamed = namesNoDay(parts) ? (from: number) => from : daysNamed(parts)
  const firstDay = Math.floor(first / perDay)
  // The fast path for most rules, which have a unit every day: this runs for every day of a search.
  if (interval <= perDay) return (from) => nextNamed(Math.max(from, firstDay))
  return (from) => {
    const end = Math.max(from, firstDay) + cycle
    const work = measureSearchWork()
    for (let day = from; day <= end && work() < SEARCH_WORK_MAX; ) {
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

/** Finds the first day, at or after another, that the rule names; Infinity if there is none. */
function daysNamed(parts: RruleParts): (from: number) => number {
  const days = daysOfYear(parts)
  // The year of the last call is cached, because the next call is usually in the same one.
  let start = 0
  let end = 0
  let named: readonly number[] = []
  const loadYear = (year: number) => {
    start = yearStart(year)
    end = yearStart(year + 1)
    named = days(year)
  }
  return (from) => {
    if (from < start || from >= end) loadYear(yearOf(from))
    let index = lowerBound(named, from - start)
    while (index >= named.length) {
      if (end * DAY_S > WALL_S_MAX) return Number.POSITIVE_INFINITY
      recordSearchWork(1)
      loadYear(yearOf(end))
      index = 0
    }
    return start + named[index]!
  }
}

/** The units of a day that a rule names; null if it names all. */
function limitsOf({ freq, byHour, byMinute, bySecond }: RruleParts): Sequence | null {
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

/** The named units that are at a multiple of the interval from `step`. */
function alignedNumbers(named: Sequence, step: number, interval: number): number[] {
  const found: number[] = []
  for (let unit = step; ; ) {
    const index = named.indexFrom(unit)
    if (index >= named.length) return found
    const next = named.at(index)
    if (next === unit) found.push(unit)
    unit = next === unit ? unit + interval : next + mod(step - next, interval)
  }
}

const cache = new Map<string, Map<number, readonly number[]>>()
let cachedNumbersCount = 0
let cachedListsCount = 0

/** Limits of the cache over all rules: a few megabytes. */
const NUMBERS_CACHED_MAX = 500_000
const LISTS_CACHED_MAX = 10_000

/**
 * Caches the aligned units of a rule's limits and a step, since some are thousands of numbers. The two keys are not
 * joined into one string, because this runs for every day of a search.
 */
function cachedNumbers(limits: string, step: number, find: () => readonly number[]): readonly number[] {
  const known = cache.get(limits)?.get(step)
  if (known !== undefined) return known
  const found = find()
  if (cachedListsCount >= LISTS_CACHED_MAX || cachedNumbersCount + found.length > NUMBERS_CACHED_MAX) {
    cache.clear()
    cachedNumbersCount = 0
    cachedListsCount = 0
  }
  const group = cache.get(limits) ?? new Map<number, readonly number[]>()
  cache.set(limits, group.set(step, found))
  cachedNumbersCount += found.length
  cachedListsCount++
  return found
}
