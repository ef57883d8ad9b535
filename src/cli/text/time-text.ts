import { assertTimezone, humanizeDuration } from '../../time/index.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const formats = new Map<string, Intl.DateTimeFormat>()

/** The instant in a zone, with its offset: `2026-11-15 09:00:00 +01:00`. */
export function localTime(at: Date, zone: string): string {
  const part = partsOf(at, zone)
  const offset = part('timeZoneName').slice(3) || '+00:00'
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
  return `${date} ${part('hour')}:${part('minute')}:${part('second')} ${offset}`
}

/** The instant in short form: `today 10:30:02`, `Nov 16 09:00`, `2027-03-28 09:00`. */
export function shortTime(at: Date, zone: string, now: number): string {
  const [part, today] = [partsOf(at, zone), partsOf(new Date(now), zone)]
  const clock = `${part('hour')}:${part('minute')}`
  const isThis = (...units: Intl.DateTimeFormatPartTypes[]) =>
    units.every((unit) => part(unit) === today(unit))
  if (isThis('year', 'month', 'day')) return `today ${clock}:${part('second')}`
  if (isThis('year')) return `${MONTHS[Number(part('month')) - 1]} ${Number(part('day'))} ${clock}`
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')} ${clock}`
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** The text, with each UTC instant in it as local time of the zone. */
export function localInstants(text: string, zone: string): string {
  return text.replace(INSTANT, (instant) => localTime(new Date(instant), zone))
}

/** The instant in the reader's zone, relative to now, and in the alarm's zone if that is another. */
export function timeFor(at: Date, view: { zone: string; now: () => number }, alarmZone: string): string {
  const text = `${localTime(at, view.zone)} (${relativeTime(at, view.now())})`
  return alarmZone === view.zone ? text : `${text} = ${localTime(at, alarmZone)} ${alarmZone}`
}

/** The distance of an instant from now, in at most two units: `in 3h 20m`, `5s ago`, `now`. */
export function relativeTime(at: Date, now: number): string {
  const distance = at.getTime() - now
  if (Math.abs(distance) < 1000) return 'now'
  return distance > 0 ? `in ${humanizeDuration(distance)}` : `${humanizeDuration(-distance)} ago`
}

function partsOf(at: Date, zone: string): (type: Intl.DateTimeFormatPartTypes) => string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map((part) => [part.type, part.value]),
  )
  return (type) => parts.get(type) ?? ''
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: assertTimezone(zone),
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  })
  formats.set(zone, made)
  return made
}
