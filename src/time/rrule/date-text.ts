import { WakefulError } from '../../error.ts'
import { DAY_S, dayOf, YEAR_MIN } from '../civil/index.ts'
import { quote } from '../text/index.ts'

/** A date or time of iCalendar. */
export interface RruleDate {
  /** A day without a time, a time on some wall clock, or a time in UTC. */
  kind: 'date' | 'local' | 'utc'
  /** Seconds since 1970 on that clock; for a day, its midnight. */
  second: number
}

const SHAPE = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/i

/** Parses a date (20261224) or a time (20261224T180000, with a trailing Z for UTC). */
export function readRruleDate(text: string, where: string): RruleDate {
  const match = SHAPE.exec(text)
  if (match === null) {
    throw new WakefulError('rrule.date', { part: where, text: quote(text) })
  }
  const [year, month, dayOfMonth, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0))
  const day = dayOf(year!, month!, dayOfMonth!)
  if (day === null || hour! > 23 || minute! > 59 || second! > 60) {
    throw new WakefulError('rrule.no_such_date', { part: where, text: quote(text) })
  }
  if (year! < YEAR_MIN) {
    throw new WakefulError('rrule.date_out_of_range', { part: where, text: quote(text), min: YEAR_MIN })
  }
  const kind = match[4] === undefined ? 'date' : match[7] === undefined ? 'local' : 'utc'
  // A leap second becomes the second before it, as RFC 5545 requires for clocks without leap seconds.
  return { kind, second: day * DAY_S + hour! * 3600 + minute! * 60 + Math.min(second!, 59) }
}
