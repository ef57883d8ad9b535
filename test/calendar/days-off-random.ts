import type { Random } from '../random.ts'
import { type BruteZone, DAY_S, type Tick, weekdayOf } from './days-off-brute.ts'

/** A random rule: the input of Wakeful, and its instants by testing every day of a window. */
export interface RandomRule {
  input: { cron: string } | { rrule: string } | { every: string; start: Date }
  /** Sorted, in epoch seconds, each with its second of the day as the rule writes it. */
  nominals: { at: number; second: number }[]
  /** The first and last day of the window. */
  window: { from: number; to: number }
}

const BYDAY = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const FROM = Date.UTC(2024, 0, 1) / 1000 / DAY_S

interface Days {
  matches(day: number): boolean
  /** Day of month, month and weekday of a cron expression, or the parts of an RRULE. */
  text: string
  kind: 'cron' | 'rrule'
  first: number
}

/** A rule that fires at most once a day, or up to six times. */
export function randomRule(random: Random, zone: BruteZone, onceADay: boolean, last: boolean): RandomRule {
  const from = FROM + random.between(0, 700)
  const to = from + (onceADay ? 500 : 130)
  if (random.chance(0.15)) return randomInterval(random, zone, { from, to }, onceADay)
  const days = random.chance(0.6) ? cronDays(random, from) : rruleDays(random, from)
  // Half of them near midnight, where days begin and clocks change.
  const night = random.chance(0.5)
  const hours = someOf(random, night ? 4 : 24, onceADay ? 1 : random.between(1, 3))
  const minutes = night
    ? [random.chance(0.6) ? 0 : 30]
    : someOf(random, 60, onceADay ? 1 : random.between(1, 2))
  const ticks: Tick[] = []
  for (let day = from; day <= to; day++) {
    if (!days.matches(day) || day < days.first) continue
    for (const hour of hours)
      for (const minute of minutes) ticks.push({ day, second: (hour * 60 + minute) * 60 })
  }
  const placed = new Map(
    ticks.map(({ day, second }) => [zone.instantOf(day * DAY_S + second, last), second] as const),
  )
  const nominals = [...placed].map(([at, second]) => ({ at, second })).sort((a, b) => a.at - b.at)
  if (days.kind === 'cron') {
    return { input: { cron: `${minutes} ${hours} ${days.text}` }, nominals, window: { from, to } }
  }
  const start = `${dateText(days.first)}T${two(hours[0]!)}${two(minutes[0]!)}00`
  const times = `BYHOUR=${hours};BYMINUTE=${minutes};BYSECOND=0`
  const rrule = `DTSTART;TZID=${zone.name}:${start}\nRRULE:${days.text};${times}`
  return { input: { rrule }, nominals, window: { from, to } }
}

/** Instants this many hours apart in real time. */
function randomInterval(
  random: Random,
  zone: BruteZone,
  window: RandomRule['window'],
  onceADay: boolean,
): RandomRule {
  const hours = onceADay ? random.between(25, 90) : random.between(5, 60)
  const start = window.from * DAY_S + random.between(0, DAY_S)
  const nominals: RandomRule['nominals'] = []
  for (let at = start; at <= (window.to + 2) * DAY_S; at += hours * 3600) {
    const wall = at + zone.offsetAt(at)
    nominals.push({ at, second: wall - Math.floor(wall / DAY_S) * DAY_S })
  }
  return { input: { every: `${hours}h`, start: new Date(start * 1000) }, nominals, window }
}

function cronDays(random: Random, from: number): Days {
  const dates = random.chance(0.4) ? someOf(random, 31, random.between(1, 3)).map((day) => day + 1) : null
  const months = random.chance(0.2)
    ? someOf(random, 12, random.between(1, 4)).map((month) => month + 1)
    : null
  const weekdays = random.chance(0.4) ? someOf(random, 7, random.between(1, 4)) : null
  return {
    kind: 'cron',
    first: from,
    text: `${dates ?? '*'} ${months ?? '*'} ${weekdays ?? '*'}`,
    matches(day) {
      const date = new Date(day * DAY_S * 1000)
      if (months !== null && !months.includes(date.getUTCMonth() + 1)) return false
      const byDate = dates?.includes(date.getUTCDate())
      const byWeekday = weekdays?.includes(date.getUTCDay())
      if (byDate === undefined) return byWeekday ?? true
      return byDate || byWeekday === true
    },
  }
}

function rruleDays(random: Random, from: number): Days {
  const interval = random.between(1, 4)
  const first = from + random.between(0, 60)
  return random.weighted<() => Days>([
    [
      1,
      () => ({
        kind: 'rrule',
        first,
        text: `FREQ=DAILY;INTERVAL=${interval}`,
        matches: (day) => (day - first) % interval === 0,
      }),
    ],
    [
      1,
      () => {
        const weekdays = someOf(random, 7, random.between(1, 4)).map((day) => day + 1)
        const monday = (day: number) => day - weekdayOf(day) + 1
        return {
          kind: 'rrule',
          first,
          text: `FREQ=WEEKLY;INTERVAL=${interval};BYDAY=${weekdays.map((day) => BYDAY[day - 1])}`,
          matches: (day) =>
            weekdays.includes(weekdayOf(day)) && ((monday(day) - monday(first)) / 7) % interval === 0,
        }
      },
    ],
    [
      1,
      () => {
        const dates = someOf(random, 31, random.between(1, 3)).map((day) => day + 1)
        const monthOf = (day: number) => {
          const date = new Date(day * DAY_S * 1000)
          return date.getUTCFullYear() * 12 + date.getUTCMonth()
        }
        return {
          kind: 'rrule',
          first,
          text: `FREQ=MONTHLY;INTERVAL=${interval};BYMONTHDAY=${dates}`,
          matches: (day) =>
            dates.includes(new Date(day * DAY_S * 1000).getUTCDate()) &&
            (monthOf(day) - monthOf(first)) % interval === 0,
        }
      },
    ],
  ])()
}

/** Random calendars around a window: single days, and now and then a run of them. */
export function randomDates(random: Random, { from, to }: RandomRule['window']): Set<number> {
  const dates = new Set<number>()
  const share = random.between(0, 12) / 100
  for (let day = from - 30; day <= to + 30; day++) if (random.chance(share)) dates.add(day)
  for (let runs = random.between(0, 3); runs > 0; runs--) {
    const start = random.between(from, to)
    for (let length = random.between(2, 40); length > 0; length--) dates.add(start + length)
  }
  return dates
}

/** A day in ISO 8601. */
export function isoDay(day: number): string {
  return new Date(day * DAY_S * 1000).toISOString().slice(0, 10)
}

/** This many distinct numbers below a limit, sorted. */
export function someOf(random: Random, below: number, count: number): number[] {
  const found = new Set<number>()
  while (found.size < count) found.add(random.between(0, below - 1))
  return [...found].sort((a, b) => a - b)
}

function dateText(day: number): string {
  return isoDay(day).replaceAll('-', '')
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
