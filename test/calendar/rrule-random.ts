import type { Random } from '../random.ts'
import type { Spec } from './rrule-brute.ts'

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const FREQS = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const
const DAY = 86_400_000

/** A random recurrence that RFC 5545 allows. */
export function randomSpec(random: Random): Spec {
  const freq = random.weighted([
    ...FREQS.slice(0, 4).map((each) => [4, each] as const),
    ...FREQS.slice(4).map((each) => [2, each] as const),
  ])
  const start = random.between(Date.UTC(1995, 0, 1) / 1000, Date.UTC(2006, 0, 1) / 1000) * 1000
  const long = freq === 'YEARLY' || freq === 'MONTHLY' || freq === 'WEEKLY' || freq === 'DAILY'
  const spec: Spec = {
    freq,
    interval: random.weighted([
      [6, 1],
      [4, random.between(2, 6)],
      [1, random.between(7, 40)],
      [long ? 0.2 : 1, random.between(41, 5000)],
    ]),
    start,
    wkst: random.chance(0.5) ? 1 : random.between(0, 6),
    added: [],
    removed: [],
  }
  addDayParts(spec, random)
  addTimeParts(spec, random)
  const named = spec.month ?? spec.weekNo ?? spec.yearDay ?? spec.monthDay ?? spec.day
  if ((named ?? spec.hour ?? spec.minute ?? spec.second) && random.chance(0.25)) {
    spec.setPos = some(random, 3, () => signed(random, random.chance(0.7) ? 5 : 366))
  }
  const bound = random.between(1, 10)
  if (bound <= 3) spec.count = random.between(1, random.chance(0.5) ? 20 : 3000)
  else if (bound <= 5) spec.until = start + random.between(0, 20 * 365 * 86_400) * 1000
  return spec
}

function addDayParts(spec: Spec, random: Random): void {
  const { freq } = spec
  const daily = freq !== 'YEARLY' && freq !== 'MONTHLY' && freq !== 'WEEKLY'
  if (random.chance(0.3)) spec.month = some(random, 4, () => random.between(1, 12))
  if (freq === 'YEARLY' && random.chance(0.3)) spec.weekNo = some(random, 4, () => signed(random, 53))
  const hasYearDays = freq === 'YEARLY' || (daily && freq !== 'DAILY')
  if (hasYearDays && random.chance(0.2)) spec.yearDay = some(random, 8, () => signed(random, 366))
  if (freq !== 'WEEKLY' && random.chance(0.3)) spec.monthDay = some(random, 6, () => signed(random, 31))
  if (random.chance(0.45)) {
    const ordinals = !daily && freq !== 'WEEKLY' && spec.weekNo === undefined && random.chance(0.6)
    const most = freq === 'MONTHLY' || spec.month !== undefined ? 5 : 53
    spec.day = some(random, 4, () => random.between(0, 6)).map((weekday) => [
      ordinals && random.chance(0.8) ? signed(random, most) : 0,
      weekday,
    ])
  }
}

function addTimeParts(spec: Spec, random: Random): void {
  if (random.chance(0.25)) spec.hour = some(random, 4, () => random.between(0, 23))
  if (random.chance(0.2)) spec.minute = some(random, 4, () => random.between(0, 59))
  if (random.chance(0.15)) spec.second = some(random, 3, () => random.between(0, 59))
}

/** Adds dates, and removes some instances. */
export function addDates(spec: Spec, instances: readonly number[], random: Random): void {
  if (random.chance(0.15)) {
    spec.added = some(
      random,
      4,
      () => spec.start + random.between(0, 10 * 365) * DAY + random.between(0, 3600) * 1000,
    )
  }
  if (instances.length > 1 && random.chance(0.2)) {
    const removed = some(random, 4, () => instances[random.between(0, Math.min(instances.length - 1, 200))]!)
    spec.removed = removed.length < instances.length ? removed : []
  }
}

function some(random: Random, most: number, one: () => number): number[] {
  return [...new Set(Array.from({ length: random.between(1, most) }, one))]
}

function signed(random: Random, most: number): number {
  return random.between(1, most) * (random.chance(0.35) ? -1 : 1)
}

/** The recurrence as iCalendar text. */
export function textOf(spec: Spec, random: Random): string {
  const list = (name: string, numbers: number[] | undefined) => (numbers ? [`${name}=${numbers.join()}`] : [])
  const parts = [
    `FREQ=${spec.freq}`,
    ...(spec.interval === 1 ? [] : [`INTERVAL=${spec.interval}`]),
    ...(spec.wkst === 1 ? [] : [`WKST=${WEEKDAYS[spec.wkst]}`]),
    ...(spec.count === undefined ? [] : [`COUNT=${spec.count}`]),
    ...(spec.until === undefined ? [] : [`UNTIL=${basic(spec.until)}${random.chance(0.5) ? 'Z' : ''}`]),
    ...list('BYMONTH', spec.month),
    ...list('BYWEEKNO', spec.weekNo),
    ...list('BYYEARDAY', spec.yearDay),
    ...list('BYMONTHDAY', spec.monthDay),
    ...(spec.day ? [`BYDAY=${spec.day.map(([nth, day]) => `${nth || ''}${WEEKDAYS[day]}`).join()}`] : []),
    ...list('BYHOUR', spec.hour),
    ...list('BYMINUTE', spec.minute),
    ...list('BYSECOND', spec.second),
    ...list('BYSETPOS', spec.setPos),
  ]
  const lines = [
    `DTSTART:${basic(spec.start)}Z`,
    `RRULE:${parts.join(';')}`,
    ...(spec.added.length > 0 ? [`RDATE:${spec.added.map((at) => `${basic(at)}Z`).join()}`] : []),
    ...(spec.removed.length > 0 ? [`EXDATE:${spec.removed.map(basic).join()}`] : []),
  ]
  return lines.join(random.chance(0.5) ? '\n' : '\r\n')
}

/** A wall time in iCalendar form. */
function basic(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
}
