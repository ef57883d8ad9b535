/**
 * RFC 5545 recurrences by brute force: tests every day of the calendar and every period of a day against the RFC's
 * definitions. It shares no code with `src/time/`; all times are wall times, as milliseconds of UTC.
 */
export interface Spec {
  freq: 'SECONDLY' | 'MINUTELY' | 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'
  interval: number
  start: number
  wkst: number
  count?: number
  until?: number
  month?: number[]
  weekNo?: number[]
  yearDay?: number[]
  monthDay?: number[]
  /** The weekday as in Date (Sunday is 0), and which one; 0 is every one. */
  day?: [nth: number, weekday: number][]
  hour?: number[]
  minute?: number[]
  second?: number[]
  setPos?: number[]
  added: number[]
  removed: number[]
}

/** The instances found, sorted, and up to where (exclusive) they are complete. */
export interface Found {
  instances: number[]
  end: number
}

interface Day {
  ms: number
  year: number
  month: number
  dayOfMonth: number
  weekday: number
  dayOfYear: number
  monthLength: number
  yearLength: number
}

const DAY = 86_400_000
const UNIT = { HOURLY: 3_600_000, MINUTELY: 60_000, SECONDLY: 1000 } as const
/** How many seconds are tested for a rule of seconds, minutes or hours. */
const TESTED_MAX = 500_000
const days: Day[] = []
const FIRST_DAY = Date.UTC(1990, 0, 1)

function dayAt(ms: number): Day {
  const index = (ms - FIRST_DAY) / DAY
  let day = days[index]
  if (day === undefined) {
    const date = new Date(ms)
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1]
    day = {
      ms,
      year,
      month,
      dayOfMonth: date.getUTCDate(),
      weekday: date.getUTCDay(),
      dayOfYear: (ms - Date.UTC(year, 0, 1)) / DAY + 1,
      monthLength: new Date(Date.UTC(year, month, 0)).getUTCDate(),
      yearLength: (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY,
    }
    days[index] = day
  }
  return day
}

function weekStart(ms: number, wkst: number): number {
  let start = ms
  while (dayAt(start).weekday !== wkst) start -= DAY
  return start
}

const has = (numbers: number[] | undefined, ...values: number[]) =>
  numbers === undefined || values.some((value) => numbers.includes(value))

/** A week belongs to the year of its fourth day, so a year has as many weeks as fourth days. */
function weekNumbers(day: Day, wkst: number): [number, number] {
  const fourth = dayAt(weekStart(day.ms, wkst) + 3 * DAY)
  const number = Math.ceil(fourth.dayOfYear / 7)
  const left = Math.floor((fourth.yearLength - fourth.dayOfYear) / 7)
  return [number, -(left + 1)]
}

function isNamedWeekday(spec: Spec, day: Day): boolean {
  if (spec.day === undefined) return true
  const inMonth = spec.freq === 'MONTHLY' || spec.month !== undefined
  const [place, length] = inMonth ? [day.dayOfMonth, day.monthLength] : [day.dayOfYear, day.yearLength]
  return spec.day.some(([nth, weekday]) => {
    if (weekday !== day.weekday) return false
    if (nth === 0) return true
    return nth > 0 ? Math.ceil(place / 7) === nth : Math.ceil((length - place + 1) / 7) === -nth
  })
}

function isDay(spec: Spec, first: Day, day: Day): boolean {
  const { freq, interval } = spec
  if (freq === 'YEARLY' && (day.year - first.year) % interval !== 0) return false
  if (freq === 'MONTHLY' && ((day.year - first.year) * 12 + day.month - first.month) % interval !== 0)
    return false
  if (freq === 'WEEKLY') {
    const weeks = (weekStart(day.ms, spec.wkst) - weekStart(first.ms, spec.wkst)) / (7 * DAY)
    if (weeks % interval !== 0) return false
  }
  if (freq === 'DAILY' && ((day.ms - first.ms) / DAY) % interval !== 0) return false
  if (!has(spec.month, day.month)) return false
  if (spec.weekNo !== undefined && !has(spec.weekNo, ...weekNumbers(day, spec.wkst))) return false
  if (!has(spec.yearDay, day.dayOfYear, day.dayOfYear - day.yearLength - 1)) return false
  if (!has(spec.monthDay, day.dayOfMonth, day.dayOfMonth - day.monthLength - 1)) return false
  return isNamedWeekday(spec, day)
}

/** Fills the parts that a rule leaves out from its start, by section 3.3.10. */
function filledIn(input: Spec): Spec {
  const spec = { ...input }
  const first = dayAt(Math.floor(spec.start / DAY) * DAY)
  const date = new Date(spec.start)
  const noDay = spec.yearDay === undefined && spec.monthDay === undefined && spec.day === undefined
  if (spec.freq === 'YEARLY' && noDay) {
    if (spec.weekNo !== undefined) spec.day = [[0, first.weekday]]
    else {
      spec.month ??= [first.month]
      spec.monthDay = [first.dayOfMonth]
    }
  }
  if (spec.freq === 'MONTHLY' && noDay) spec.monthDay = [first.dayOfMonth]
  if (spec.freq === 'WEEKLY' && noDay) spec.day = [[0, first.weekday]]
  if (spec.freq === 'SECONDLY') return spec
  spec.second ??= [date.getUTCSeconds()]
  if (spec.freq === 'MINUTELY') return spec
  spec.minute ??= [date.getUTCMinutes()]
  if (spec.freq === 'HOURLY') return spec
  spec.hour ??= [date.getUTCHours()]
  return spec
}

const RANGES = { hour: 24, minute: 60, second: 60 }
const values = (spec: Spec, unit: 'hour' | 'minute' | 'second') =>
  Array.from({ length: RANGES[unit] }, (_, value) => value).filter((value) => has(spec[unit], value))

const unitOf = ({ freq }: Spec) =>
  freq === 'HOURLY' || freq === 'MINUTELY' || freq === 'SECONDLY' ? UNIT[freq] : null

/** All candidates of one day, sorted, each with the key of its period. */
function* candidates(spec: Spec, day: Day, times: number[][]): Generator<[key: number, at: number]> {
  const { freq, interval, start, wkst } = spec
  const unit = unitOf(spec)
  const key = { YEARLY: day.year, MONTHLY: day.year * 12 + day.month, DAILY: day.ms }[freq as string]
  const period = key ?? (freq === 'WEEKLY' ? weekStart(day.ms, wkst) : 0)
  for (const hour of times[0]!) {
    for (const minute of times[1]!) {
      for (const second of times[2]!) {
        const at = day.ms + hour * 3_600_000 + minute * 60_000 + second * 1000
        if (unit === null) yield [period, at]
        else {
          const units = Math.floor(at / unit) - Math.floor(start / unit)
          if (units % interval === 0) yield [Math.floor(at / unit), at]
        }
      }
    }
  }
}

/** Enumerates a recurrence from its start to `end`, or up to a limit of candidates. */
export function enumerate(input: Spec, end: number, candidatesMax: number): Found {
  const spec = filledIn(input)
  const first = dayAt(Math.floor(spec.start / DAY) * DAY)
  const from = Math.min(Date.UTC(first.year, 0, 1), weekStart(first.ms, spec.wkst))
  const found: number[] = []
  let group: number[] = []
  let groupKey = Number.NaN
  const times = [values(spec, 'hour'), values(spec, 'minute'), values(spec, 'second')]
  const perDay = times.reduce((size, each) => size * each.length, 1)
  let seen = 0
  let tested = 0
  let known = end
  const close = () => {
    const positions = spec.setPos?.map((position) => (position > 0 ? position - 1 : group.length + position))
    for (const [index, at] of group.entries()) {
      if (at >= spec.start && (positions === undefined || positions.includes(index))) found.push(at)
    }
    group = []
  }
  outer: for (let ms = from; ms < end + 370 * DAY; ms += DAY) {
    const day = dayAt(ms)
    if (!isDay(spec, first, day)) continue
    if (unitOf(spec) !== null) {
      // Days before the start are needed only in its own period, and not for short periods.
      if (ms < first.ms) continue
      if (tested > TESTED_MAX) {
        known = Math.min(known, ms)
        break
      }
      tested += perDay
    }
    for (const [key, at] of candidates(spec, day, times)) {
      if (key !== groupKey) {
        if (group.length > 0) close()
        if (at >= end) break outer
        if (seen > candidatesMax) {
          known = at
          break outer
        }
        groupKey = key
      }
      group.push(at)
      seen++
    }
  }
  if (group.length > 0) close()
  let kept = found
  if (spec.count !== undefined) kept = kept.slice(0, spec.count)
  if (spec.until !== undefined) kept = kept.filter((at) => at <= spec.until!)
  const all = [...new Set([...kept, ...spec.added])].filter((at) => !spec.removed.includes(at) && at < known)
  return { instances: all.sort((a, b) => a - b), end: known }
}
