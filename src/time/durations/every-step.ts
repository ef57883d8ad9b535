import { WakefulError } from '../../errors/core.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'
import { parseDuration } from './duration.ts'

/** The step of an `every`: a fixed length, or whole months of the calendar. */
export type Step = { everyMs: number } | { everyMonths: number }

/** A longer calendar step would have no second instant in the years 1970 to 9999. */
const MONTHS_MAX = 8030 * 12
const WORDS = /^(?:(\d{1,6}) ?(?:years?|yrs?|y))?(?:,? ?(?:and )?(\d{1,6}) ?(?:months?|mos?))?$/i
const ISO = /^P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?$/i

/**
 * Parses the step of an `every`. Weeks and shorter units have a fixed length (`1d` is always 24 hours). Months and
 * years follow the calendar, and cannot be combined with the others, because such a sum is ambiguous.
 */
export function parseStep(text: string): Step {
  const unit =
    typeof text === 'string' ? /^(?:an? )?(second|minute|hour|day|week|month|year)$/i.exec(text.trim()) : null
  if (unit !== null) {
    const one = `1 ${unit[1]!.toLowerCase()}`
    throw new WakefulError('every.no_number', { text: quote(text), one })
  }
  const months = readMonths(text)
  if (months === null) return { everyMs: parseInterval(text) }
  if (months >= 1 && months <= MONTHS_MAX) return { everyMonths: months }
  throw new WakefulError('every.out_of_range', { text: quote(text) })
}

function readMonths(text: string): number | null {
  if (typeof text !== 'string' || text.length > TEXT_LENGTH_MAX) return null
  const trimmed = text.trim()
  if (/^(?:|P)$/i.test(trimmed)) return null
  const match = WORDS.exec(trimmed) ?? ISO.exec(trimmed)
  return match === null ? null : Number(match[1] ?? 0) * 12 + Number(match[2] ?? 0)
}

/** Parses the fixed interval of a rule: at least one second, because a rule fires at most once a second. */
export function parseInterval(text: string): number {
  let ms: number
  try {
    ms = parseDuration(text)
  } catch (cause) {
    if (cause instanceof WakefulError) throw cause.with({ code: 'invalid_rule' })
    throw cause
  }
  if (ms >= 1000) return ms
  throw new WakefulError('every.under_a_second', { text: quote(text) })
}
