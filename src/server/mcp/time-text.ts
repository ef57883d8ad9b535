import { humanizeDuration } from '../../time/index.ts'

const formats = new Map<string, Intl.DateTimeFormat>()
const FORMATS_MAX = 1_000

/** An instant on the wall clock of a zone, with its weekday and the zone: `Tue 2026-11-17 09:00 Europe/Rome`. */
export function wallTime(at: Date, zone: string): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  const seconds = part('second') === '00' ? '' : `:${part('second')}`
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
  return `${part('weekday')} ${date} ${part('hour')}:${part('minute')}${seconds} ${zone}`
}

/** How far an instant is from now: `in 1d 11h`, `3m ago`, `now`. */
function distance(at: Date, now: number): string {
  const ms = at.getTime() - now
  if (Math.abs(ms) < 1000) return 'now'
  return ms > 0 ? `in ${humanizeDuration(ms)}` : `${humanizeDuration(-ms)} ago`
}

/** Both: `Tue 2026-11-17 09:00 Europe/Rome, in 1d 11h`. */
export function timeText(instant: string, zone: string, now: number): string {
  const at = new Date(instant)
  return `${wallTime(at, zone)}, ${distance(at, now)}`
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    calendar: 'iso8601',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  if (formats.size >= FORMATS_MAX) formats.clear()
  formats.set(zone, made)
  return made
}
