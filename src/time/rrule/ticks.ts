import { measureSearchWork, recordSearchWork } from '../clock/index.ts'
import { type Blocks, SEARCH_WORK_MAX } from './blocks.ts'
import { DAY_S, gcd, isLeap, mod, WALL_S_MAX, yearOf, yearStart } from './civil-date.ts'
import { daysOfYear } from './days.ts'
import { cachedNumbers } from './list-cache.ts'
import type { RruleParts } from './parts.ts'
import { timesOfDay, timesOfHour } from './periods.ts'
import { atPositions, list, lowerBound, product, type Sequence, stride } from './sequence.ts'

const DAYS_PER_400_YEARS = 146_097
/** A rule with more days than this before its units are in step again is not kept whole. */
const CYCLE_KEPT_MAX = 2000
const ALL_24 = stride(0, 1, 24)
const ALL_60 = stride(0, 1, 60)

/** The blocks of a rule that repeats every `unitS` seconds, a day or less; what it leaves open comes from its start. */
export function tickBlocks(parts: RruleParts, startS: number, unitS: number): Blocks {
  const perDay = DAY_S / unitS
  const { interval } = parts
  const first = Math.floor(startS / unitS)
  // After so many days the same units of the day are in step with the interval again.
  const cycle = interval / gcd(interval, perDay)
  const named = limitsOf(parts)
  const seconds = secondsOf(parts, startS)
  const shared = `${parts.freq} ${interval} ${parts.byHour} ${parts.byMinute} ${parts.bySecond}`
  const unitsInStep = (step: number) => {
    if (named === null) return stride(step, interval, perDay)
    if (interval === 1) return named
    const find = () => inStep(named, step, interval)
    return list(cycle <= CYCLE_KEPT_MAX ? cachedNumbers(shared, step, find) : find())
  }
  if (cycle === 1) {
    return sameEveryDay(parts, startS, product(unitsInStep(mod(first, interval)), unitS, seconds))
  }
  const span = (DAYS_PER_400_YEARS / gcd(DAYS_PER_400_YEARS, cycle)) * cycle
  const dayFrom = daysInStep(parts, first, perDay, span)
  return {
    idAt: (second) => dayFrom(Math.floor(Math.max(second, startS) / DAY_S)),
    nextId: (day) => dayFrom(day + 1),
    block: (day) => ({
      start: day * DAY_S,
      instances: product(unitsInStep(mod(first - day * perDay, interval)), unitS, seconds),
    }),
    span,
    densityMax: { everyS: unitS * interval, count: seconds.length },
    cost: named === null || cycle <= CYCLE_KEPT_MAX ? 1 : 2 + Math.min(named.length, perDay / interval),
  }
}

/** Years as blocks: all their named days have the same times. */
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
    span: 400,
    densityMax: { everyS: DAY_S, count: times.length },
  }
}

/** Finds the first day, from another on, that the rule names and that holds a unit in step with its interval. */
function daysInStep(
  parts: RruleParts,
  first: number,
  perDay: number,
  span: number,
): (from: number) => number {
  const { interval } = parts
  const nextNamed = namesNoDay(parts) ? (from: number) => from : daysNamed(parts)
  const firstDay = Math.floor(first / perDay)
  // Most rules have something every day, and this is asked for every day of a search.
  if (interval <= perDay) return (from) => nextNamed(Math.max(from, firstDay))
  return (from) => {
    const end = Math.max(from, firstDay) + span
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

/** Finds the first day, from another on, that the rule names; Infinity where there is none. */
function daysNamed(parts: RruleParts): (from: number) => number {
  const days = daysOfYear(parts)
  // The year of the last answer, because the next question is about the same one.
  let start = 0
  let end = 0
  let named: readonly number[] = []
  const turnTo = (year: number) => {
    start = yearStart(year)
    end = yearStart(year + 1)
    named = days(year)
  }
  return (from) => {
    if (from < start || from >= end) turnTo(yearOf(from))
    let place = lowerBound(named, from - start)
    while (place >= named.length) {
      if (end * DAY_S > WALL_S_MAX) return Number.POSITIVE_INFINITY
      recordSearchWork(1)
      turnTo(yearOf(end))
      place = 0
    }
    return start + named[place]!
  }
}

/** The units of a day that a rule names; null where all count. */
function limitsOf({ freq, byHour, byMinute, bySecond }: RruleParts): Sequence | null {
  if (freq === 'DAILY') return null
  const hours = byHour === undefined ? ALL_24 : list(byHour)
  if (freq === 'HOURLY') return byHour === undefined ? null : hours
  const minutes = byMinute === undefined ? ALL_60 : list(byMinute)
  if (freq === 'MINUTELY') return byHour || byMinute ? product(hours, 60, minutes) : null
  if (!(byHour || byMinute || bySecond)) return null
  return product(hours, 3600, product(minutes, 60, bySecond === undefined ? ALL_60 : list(bySecond)))
}

/** The seconds of one unit that a rule names, BYSETPOS applied: they are the same in every unit. */
function secondsOf(parts: RruleParts, startS: number): Sequence {
  const all = {
    DAILY: () => timesOfDay(parts, startS),
    HOURLY: () => timesOfHour(parts, startS),
    MINUTELY: () => list(parts.bySecond ?? [mod(startS, 60)]),
    SECONDLY: () => list([0]),
  }[parts.freq as string]!()
  return parts.bySetPos === undefined ? all : atPositions(all, parts.bySetPos)
}

/** The named units that are in step: the first that would be, and every interval after it. */
function inStep(named: Sequence, step: number, interval: number): number[] {
  const found: number[] = []
  for (let unit = step; ; ) {
    const index = named.from(unit)
    if (index >= named.length) return found
    const next = named.at(index)
    if (next === unit) found.push(unit)
    unit = next === unit ? unit + interval : next + mod(step - next, interval)
  }
}
