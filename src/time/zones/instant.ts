import { typeName, WakefulError } from '../../error.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'
import { assertInstant, assertTimezone } from './canonical.ts'
import { plainTime, temporal, zoned } from './temporal.ts'

/**
 * A `Temporal.Instant`, the runtime's or a polyfill's. Not the global type: where that is missing (before TypeScript 6, or
 * with an older `lib`), every type that names it would be `any`.
 */
export interface TemporalInstant {
  readonly [Symbol.toStringTag]: 'Temporal.Instant'
  readonly epochNanoseconds: bigint
}

/** A point in time: an instant, or text that names one. */
export type Moment = Date | TemporalInstant | string

/** Parses an instant. Text must have an offset, because a wall time alone is no instant. */
export function parseInstant(value: Moment): number {
  const input: unknown = value
  if (typeof input === 'string') {
    const iso = parseIso(input)
    if (iso?.offsetMs !== undefined) return assertInstant(iso.wallTimeMs - iso.offsetMs, input)
    throw new WakefulError(iso === null ? 'instant.malformed' : 'instant.no_offset', { text: quote(input) })
  }
  const tag = Object.prototype.toString.call(input)
  if (tag === '[object Date]') return fromDate(input as Date)
  if (tag === '[object Temporal.Instant]') return fromNanoseconds(input as TemporalInstant)
  if (typeof input === 'number') {
    throw new WakefulError('instant.bare_number', { value: String(input) })
  }
  throw new WakefulError('instant.type', { value: typeName(input) })
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
    throw new WakefulError('instant.type', { value: typeName(date) }, { cause })
  }
}

function fromNanoseconds(instant: TemporalInstant): number {
  const ns = instant.epochNanoseconds
  if (typeof ns !== 'bigint') throw new WakefulError('instant.type', { value: typeName(instant) })
  const whole = ns / 1_000_000n
  // Rounded up: cutting off a microsecond would fire an alarm early.
  return assertInstant(Number(ns > whole * 1_000_000n ? whole + 1n : whole), `${ns} ns`)
}

/** An ISO 8601 date and time: the wall time as if it were UTC, and the offset if the text has one. */
export interface IsoTime {
  wallTimeMs: number
  offsetMs?: number
}

const OFFSET = '([Zz]|[+-]\\d\\d(?::?\\d\\d)?)'
const FRACTION = '(?:[.,](\\d{1,100}))?'
const EXTENDED = new RegExp(
  `^(\\d{4})-(\\d\\d)-(\\d\\d)[Tt ](\\d\\d):(\\d\\d)(?::(\\d\\d)${FRACTION})?(?: ?${OFFSET})?(?:\\[([\\w+/-]{1,64})\\])?$`,
)
const BASIC = new RegExp(`^(\\d{4})(\\d\\d)(\\d\\d)[Tt](\\d\\d)(\\d\\d)(?:(\\d\\d)${FRACTION})?${OFFSET}?$`)

/**
 * Parses an ISO 8601 date and time, with or without an offset and a zone in brackets. Null if the text is none, names
 * no real day, or has an offset that its zone does not have then.
 */
export function parseIso(text: string): IsoTime | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const trimmed = text.trim()
  const match = EXTENDED.exec(trimmed) ?? BASIC.exec(trimmed)
  if (match === null) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = match.slice(1, 6).map(Number)
  const leap = match[6] === '60'
  const second = leap ? 59 : Number(match[6] ?? 0)
  try {
    const wall = temporal.PlainDateTime.from(
      { year, month, day, hour, minute, second },
      { overflow: 'reject' },
    )
    // A leap second becomes the second after it, and fractions are rounded up: less would be early.
    const wallTimeMs =
      wall.toZonedDateTime('UTC').epochMilliseconds + (leap ? 1000 : 0) + fractionMs(match[7] ?? '')
    return withOffset(wallTimeMs, match[8], match[9])
  } catch {
    return null
  }
}

function fractionMs(digits: string): number {
  return Number(digits.slice(0, 3).padEnd(3, '0')) + (/[1-9]/.test(digits.slice(3)) ? 1 : 0)
}

function withOffset(
  wallTimeMs: number,
  offset: string | undefined,
  zone: string | undefined,
): IsoTime | null {
  const offsetMs = offset === undefined ? undefined : parseOffset(offset)
  if (offsetMs === null) return null
  if (zone === undefined) return offsetMs === undefined ? { wallTimeMs } : { wallTimeMs, offsetMs }
  const timezone = assertTimezone(zone)
  if (offsetMs === undefined) {
    const { epochMilliseconds } = plainTime(wallTimeMs).toZonedDateTime(timezone)
    return { wallTimeMs, offsetMs: wallTimeMs - epochMilliseconds }
  }
  const there = zoned(timezone, wallTimeMs - offsetMs)
  const agrees = /^z$/i.test(offset!) || there.offsetNanoseconds / 1e6 === offsetMs
  return agrees ? { wallTimeMs, offsetMs } : null
}

function parseOffset(text: string): number | null {
  if (/^z$/i.test(text)) return 0
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) return null
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
