import { typeName, WakefulError } from '../../errors/core.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'

/** A day of 24 hours, in milliseconds. */
export const DAY_MS = 86_400_000

/** The longest duration accepted: 10,000 years of 365.25 days. */
export const DURATION_MAX_MS = 315_576_000_000_000

const UNITS = [
  { short: 'w', words: ['week', 'weeks'], ms: 604_800_000 },
  { short: 'd', words: ['day', 'days'], ms: 86_400_000 },
  { short: 'h', words: ['hr', 'hrs', 'hour', 'hours'], ms: 3_600_000 },
  { short: 'm', words: ['min', 'mins', 'minute', 'minutes'], ms: 60_000 },
  { short: 's', words: ['sec', 'secs', 'second', 'seconds'], ms: 1000 },
  { short: 'ms', words: ['millisecond', 'milliseconds'], ms: 1 },
]

const DAYS_PER_YEAR = 365.25
const RANK = new Map(UNITS.flatMap((unit, rank) => [unit.short, ...unit.words].map((name) => [name, rank])))
const PART = /^(\d{1,18})(?:\.(\d{1,9}))? ?([a-z]+)(?:,? |$)?/
const ISO =
  /^P(?:(\d{1,18}(?:[.,]\d{1,9})?)W)?(?:(\d{1,18}(?:[.,]\d{1,9})?)D)?(?:T(?:(\d{1,18}(?:[.,]\d{1,9})?)H)?(?:(\d{1,18}(?:[.,]\d{1,9})?)M)?(?:(\d{1,18}(?:[.,]\d{1,9})?)S)?)?$/

/**
 * Parses a duration to milliseconds, rounded up. Each unit may appear once, from large to small, with decimals.
 * A day is 24 hours and a week 7 days; months and years have no fixed length and are refused.
 */
export function parseDuration(text: string, field?: string): number {
  if (typeof text !== 'string') throw new WakefulError('duration.malformed', { text: quote(text) }, { field })
  if (text.length > TEXT_LENGTH_MAX) throw new WakefulError('duration.text_too_long', {}, { field })
  const ms = readDuration(text)
  if (ms === null) throw new WakefulError(mistakeIn(text), { text: quote(text) }, { field })
  if (ms <= DURATION_MAX_MS) return ms
  throw new WakefulError('duration.too_long', { text: quote(text) }, { field })
}

/** Refuses a duration that is not a text. Programs and models write 300 for five minutes: the error shows the unit. */
export function assertDurationText(field: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number')
    throw new WakefulError('field.invalid', { expected: 'a string', value: typeName(value) }, { field })
  const seconds = Number.isSafeInteger(value) && value >= 0 ? value : 90
  throw new WakefulError('field.without_unit', { example: `${seconds}s` }, { field })
}

/** The milliseconds of a field that is a duration. */
export function durationOf(field: string, value: unknown): number {
  return parseDuration(assertDurationText(field, value), field)
}

/** Whether the text is a duration. */
export function isDuration(text: string): boolean {
  return readDuration(text) !== null
}

/** Formats a duration exactly: `parseDuration` returns the same milliseconds. */
export function formatDuration(ms: number): string {
  if (!Number.isInteger(ms) || ms < 0 || ms > DURATION_MAX_MS) {
    throw new WakefulError('duration.not_milliseconds', { value: String(ms) })
  }
  if (ms === 0) return '0s'
  // Weeks only if they divide evenly: '1w' reads well, '1w3d' does not.
  if (ms % UNITS[0]!.ms === 0) return `${ms / UNITS[0]!.ms}w`
  let rest = ms
  let text = ''
  for (const unit of UNITS.slice(1)) {
    const count = Math.floor(rest / unit.ms)
    if (count > 0) text += `${count}${unit.short}`
    rest -= count * unit.ms
  }
  return text
}

/** A duration for people, in its two largest units: `2d 4h`, `2d 42m`, `1m 30s`, `250ms`; from two years on, `3y`. */
export function humanizeDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`
  const years = Math.floor(ms / (DAY_MS * DAYS_PER_YEAR))
  if (years >= 2) return `${years}y`
  // From an hour on, seconds are noise.
  const finest = ms < 3_599_500 ? 1000 : 60_000
  return twoUnits(Math.round(ms / finest) * finest)
}

function twoUnits(ms: number): string {
  const units = UNITS.slice(1, -1)
  const largestIn = (length: number) => units.find((unit) => unit.ms <= length)
  const first = largestIn(ms)!
  const second = largestIn(ms % first.ms)
  // Rounded as a whole, since nothing finer follows: rounding the second unit alone would give '2d 24h'.
  const rounded = second === undefined ? ms : Math.round(ms / second.ms) * second.ms
  const left = rounded % first.ms
  const text = `${Math.floor(rounded / first.ms)}${first.short}`
  return left === 0 ? text : `${text} ${left / second!.ms}${second!.short}`
}

/** The duration in milliseconds, rounded up; null if the text is none. */
function readDuration(text: string): number | null {
  const trimmed = text.trim()
  return /^p/i.test(trimmed) ? readIso(trimmed.toUpperCase()) : readParts(trimmed)
}

function readParts(text: string): number | null {
  const parts: Part[] = []
  let rankBefore = -1
  for (let rest = text; rest !== ''; ) {
    const match = PART.exec(rest)
    const rank = RANK.get(match?.[3] ?? '')
    if (match === null || rank === undefined || rank <= rankBefore) return null
    parts.push([match[1]!, match[2], UNITS[rank]!.ms])
    rankBefore = rank
    rest = rest.slice(match[0].length)
  }
  return parts.length === 0 ? null : sumOf(parts)
}

function readIso(text: string): number | null {
  const [, ...values] = ISO.exec(text) ?? []
  // 'P' and 'P1DT' have a designator without a value.
  if (values.every((value) => value === undefined) || text.endsWith('T')) return null
  return sumOf(
    values.map((value = '0', rank) => {
      const [whole, fraction] = value.split(/[.,]/) as [string, string?]
      return [whole, fraction, UNITS[rank]!.ms]
    }),
  )
}

/** A number of units: its whole digits, its decimals, and the unit in milliseconds. */
type Part = [whole: string, decimals: string | undefined, unitMs: number]

/** The sum in milliseconds, in integers, so that 0.3007 days gains no millisecond by a rounding error. */
function sumOf(parts: Part[]): number {
  let [ms, billionths] = [0, 0n]
  for (const [whole, decimals, unitMs] of parts) {
    ms += Number(whole) * unitMs
    if (decimals !== undefined) billionths += BigInt(decimals.padEnd(9, '0')) * BigInt(unitMs)
  }
  return ms + Number((billionths + 999_999_999n) / 1_000_000_000n)
}

function mistakeIn(text: string) {
  const trimmed = text.trim()
  if (/^-|^\+|^p?-/i.test(trimmed)) return 'duration.signed'
  if (/^\d+$/.test(trimmed)) return 'duration.no_unit'
  const calendar = /\d ?(?:mo|mos|months?|y|yrs?|years?)\b/i.test(trimmed) || /^P[\d.,]*\d[YM]/i.test(trimmed)
  return calendar ? 'duration.calendar_unit' : 'duration.malformed'
}

/** The earliest instant that Wakeful accepts: 1970-01-01T00:00:00.000Z. */
export const INSTANT_MIN = 0

/** The latest instant that Wakeful accepts: 9999-12-31T23:59:59.999Z. */
export const INSTANT_MAX = 253_402_300_799_999

/** Returns the instant if it is in the years 1970 to 9999, and refuses it otherwise. */
export function assertInstant(ms: number, input: unknown, field?: string): number {
  // Adding zero turns -0, which rounding up can give, into 0: JSON does not preserve the sign.
  if (Number.isInteger(ms) && ms >= INSTANT_MIN && ms <= INSTANT_MAX) return ms + 0
  throw new WakefulError('instant.out_of_range', { text: quote(input) }, { field })
}

/** The instant of a number of seconds since 1970. */
export function instantOfUnix(unix: unknown): number {
  if (typeof unix !== 'number' || !Number.isFinite(unix)) {
    const params = { expected: 'a number of seconds', value: quote(unix) }
    throw new WakefulError('field.invalid', params, { field: 'unix', code: 'invalid_time' })
  }
  if (unix * 1000 > INSTANT_MAX && unix <= INSTANT_MAX) {
    throw new WakefulError('instant.unix_in_milliseconds', { value: String(unix) }, { field: 'unix' })
  }
  // Rounded to a microsecond first, because 1736882445.123 * 1000 is not an integer in floating point.
  return assertInstant(Math.ceil(Number((unix * 1000).toFixed(3))), unix, 'unix')
}
