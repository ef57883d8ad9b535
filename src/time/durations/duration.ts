import { WakefulError } from '../../error.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'

/** The longest duration taken: 10,000 years of 365.25 days. */
export const DURATION_MAX_MS = 315_576_000_000_000

const UNITS = [
  { short: 'w', words: ['week', 'weeks'], ms: 604_800_000 },
  { short: 'd', words: ['day', 'days'], ms: 86_400_000 },
  { short: 'h', words: ['hr', 'hrs', 'hour', 'hours'], ms: 3_600_000 },
  { short: 'm', words: ['min', 'mins', 'minute', 'minutes'], ms: 60_000 },
  { short: 's', words: ['sec', 'secs', 'second', 'seconds'], ms: 1000 },
  { short: 'ms', words: ['millisecond', 'milliseconds'], ms: 1 },
]

const RANK = new Map(UNITS.flatMap((unit, rank) => [unit.short, ...unit.words].map((name) => [name, rank])))
const PART = /^(\d{1,18})(?:\.(\d{1,9}))? ?([a-z]+)(?:,? |$)?/
const ISO =
  /^P(?:(\d{1,18}(?:[.,]\d{1,9})?)W)?(?:(\d{1,18}(?:[.,]\d{1,9})?)D)?(?:T(?:(\d{1,18}(?:[.,]\d{1,9})?)H)?(?:(\d{1,18}(?:[.,]\d{1,9})?)M)?(?:(\d{1,18}(?:[.,]\d{1,9})?)S)?)?$/
const FORMS = "durations are written like '250ms', '10s', '5m', '2h', '3d', '1w', '1h30m', '1.5h' or 'PT10M'"

/**
 * Reads a duration as milliseconds: units once each and from large to small, decimals allowed, rounded up.
 * A day is 24 hours and a week 7 of those; months and years have no fixed length and are refused.
 */
export function parseDuration(text: string): number {
  if (typeof text !== 'string') {
    throw new WakefulError('invalid_time', `${quote(text)} is not a duration: ${FORMS}`)
  }
  if (text.length > TEXT_LENGTH_MAX)
    throw new WakefulError('invalid_time', 'this text is too long for a duration')
  const trimmed = text.trim()
  const ms = /^p/i.test(trimmed) ? readIso(trimmed.toUpperCase()) : readParts(trimmed)
  if (ms === null) throw refusal(text, trimmed)
  if (ms <= DURATION_MAX_MS) return ms
  throw new WakefulError('invalid_time', `${quote(text)} is longer than 10,000 years`)
}

/** Tells whether the text is a duration, and nothing else. */
export function isDuration(text: string): boolean {
  const trimmed = text.trim()
  return (/^p/i.test(trimmed) ? readIso(trimmed.toUpperCase()) : readParts(trimmed)) !== null
}

/** The duration in the shortest form that parseDuration reads back to the same milliseconds. */
export function formatDuration(ms: number): string {
  if (!Number.isInteger(ms) || ms < 0 || ms > DURATION_MAX_MS) {
    throw new WakefulError('invalid_time', `${ms} is not a duration in whole milliseconds`)
  }
  if (ms === 0) return '0s'
  // '1w' reads well, '1w3d' does not: weeks only where they come out even.
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

/** A length being added up: whole milliseconds, and billionths of one beside them. */
interface Sum {
  ms: number
  rest: number
}

function readParts(text: string): number | null {
  let rest = text
  const sum: Sum = { ms: 0, rest: 0 }
  let rankBefore = -1
  while (rest !== '') {
    const match = PART.exec(rest)
    const rank = RANK.get(match?.[3] ?? '')
    if (match === null || rank === undefined || rank <= rankBefore) return null
    add(sum, match[1]!, match[2] ?? '', UNITS[rank]!.ms)
    rankBefore = rank
    rest = rest.slice(match[0].length)
  }
  return rankBefore === -1 ? null : roundedUp(sum)
}

function readIso(text: string): number | null {
  const match = ISO.exec(text)
  if (match === null) return null
  const parts = match.slice(1)
  // 'P' and 'P1DT' announce what does not follow.
  if (parts.every((part) => part === undefined) || text.endsWith('T')) return null
  const sum: Sum = { ms: 0, rest: 0 }
  for (const [rank, part] of parts.entries()) {
    const [whole, fraction] = (part ?? '0').split(/[.,]/) as [string, string?]
    add(sum, whole, fraction ?? '', UNITS[rank]!.ms)
  }
  return roundedUp(sum)
}

/** Adds decimal digits times a unit, in integers: 0.3007 days must not become a millisecond more by a float's error. */
function add(sum: Sum, whole: string, fraction: string, unitMs: number): void {
  sum.ms += Number(whole) * unitMs
  if (fraction === '') return
  const billionths = Number(fraction.padEnd(9, '0'))
  // Every unit is a millisecond or whole seconds: in thousandths of it, the product stays a safe integer.
  const millionths = unitMs === 1 ? 0 : billionths * (unitMs / 1000)
  sum.ms += Math.floor(millionths / 1e6)
  sum.rest += unitMs === 1 ? billionths : (millionths % 1e6) * 1000
}

function roundedUp({ ms, rest }: Sum): number {
  return ms + Math.ceil(rest / 1e9)
}

function refusal(text: string, trimmed: string): WakefulError {
  if (/^-|^\+|^p?-/i.test(trimmed)) {
    return new WakefulError(
      'invalid_time',
      `${quote(text)} is not a duration: it must not have a sign; ${FORMS}`,
    )
  }
  if (/^\d+$/.test(trimmed)) {
    return new WakefulError('invalid_time', `${quote(text)} has no unit: ${FORMS}`)
  }
  const calendar = /\d ?(?:mo|mos|months?|y|yrs?|years?)\b/i.test(trimmed) || /^P[\d.,]*\d[YM]/i.test(trimmed)
  const why = calendar ? 'months and years have no fixed length, count in days or weeks; ' : ''
  return new WakefulError('invalid_time', `${quote(text)} is not a duration: ${why}${FORMS}`)
}
