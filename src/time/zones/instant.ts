import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import { parseIso } from './iso.ts'

/** The earliest instant that Wakeful accepts: 1970-01-01T00:00:00.000Z. */
export const INSTANT_MIN = 0

/** The latest instant that Wakeful accepts: 9999-12-31T23:59:59.999Z. */
export const INSTANT_MAX = 253_402_300_799_999

/** Returns the instant if it is in the years 1970 to 9999, and refuses it otherwise. */
export function assertInstant(ms: number, input: unknown): number {
  // Plus zero: rounding up can give -0, which JSON does not preserve.
  if (Number.isInteger(ms) && ms >= INSTANT_MIN && ms <= INSTANT_MAX) return ms + 0
  throw new WakefulError('instant.out_of_range', { text: quote(input) })
}

const formatted = new Map<number, string>()
const FORMATTED_MAX = 32

/** The instant as ISO 8601 in UTC, with milliseconds. */
export function formatInstant(ms: number): string {
  // Cached, because the records of a batch repeat the same few instants a thousand times.
  const known = formatted.get(ms)
  if (known !== undefined) return known
  const text = new Date(ms).toISOString()
  if (formatted.size >= FORMATTED_MAX) formatted.clear()
  formatted.set(ms, text)
  return text
}

/** Parses an instant. Text must have an offset, because a wall time alone is no instant. */
export function parseInstant(value: Date | Temporal.Instant | string): number {
  const input: unknown = value
  if (typeof input === 'string') {
    const iso = parseIso(input)
    if (iso?.offsetMs !== undefined) return assertInstant(iso.wallTimeMs - iso.offsetMs, input)
    throw new WakefulError(iso === null ? 'instant.malformed' : 'instant.no_offset', { text: quote(input) })
  }
  const tag = Object.prototype.toString.call(input)
  if (tag === '[object Date]') return fromDate(input as Date)
  if (tag === '[object Temporal.Instant]') return fromNanoseconds(input as Temporal.Instant)
  if (typeof input === 'number') {
    throw new WakefulError('instant.bare_number', { value: String(input) })
  }
  throw new WakefulError('instant.type', {})
}

function fromDate(date: Date): number {
  const ms = timeOf(date)
  if (Number.isNaN(ms)) throw new WakefulError('instant.invalid_date', {})
  return assertInstant(ms, new Date(ms).toISOString())
}

/** Any object can have the tag of a Date, and then no time. */
function timeOf(date: Date): number {
  try {
    return Date.prototype.getTime.call(date)
  } catch (cause) {
    throw new WakefulError('instant.type', {}, { cause })
  }
}

function fromNanoseconds(instant: Temporal.Instant): number {
  const ns = instant.epochNanoseconds
  if (typeof ns !== 'bigint') throw new WakefulError('instant.type', {})
  const whole = ns / 1_000_000n
  // Rounded up: cutting off a microsecond would fire an alarm early.
  return assertInstant(Number(ns > whole * 1_000_000n ? whole + 1n : whole), `${ns} ns`)
}
