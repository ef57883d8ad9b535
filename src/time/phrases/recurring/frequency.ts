import { WakefulError } from '../../../error.ts'
import { DURATION_MAX_MS } from '../../durations/index.ts'
import { quote, UNIT_MS, UNITS, type Unit } from '../../text/index.ts'
import { type Amount, elapsedMs, readAmount } from '../amount.ts'
import type { PhraseInput } from '../phrase-input.ts'
import { DAY_PARTS, type DayPart } from '../time-of-day.ts'
import { workingDayLength } from '../working-days.ts'
import { after, ordinalOf, readDays, readMonths, readWeekdays, weekdayOf } from './days.ts'
import type { CalendarUnit, Clause, ParsedRecurrence } from './parsed.ts'

const ADVERBS: ReadonlyMap<string, ParsedRecurrence> = new Map<string, ParsedRecurrence>([
  ['hourly', { frequency: { everyMs: 3_600_000 } }],
  ['daily', { frequency: { unit: 'day', interval: 1 } }],
  ['nightly', { frequency: { unit: 'day', interval: 1 }, dayPart: 'night' }],
  ['weekly', { frequency: { unit: 'week', interval: 1 } }],
  ['fortnightly', { frequency: { unit: 'week', interval: 2 } }],
  ['monthly', { frequency: { unit: 'month', interval: 1 } }],
  ['yearly', { frequency: { unit: 'year', interval: 1 } }],
  ['annually', { frequency: { unit: 'year', interval: 1 } }],
])
const QUARTERLY = ['every year on the 1st of january, april, july and october']
/** Words with two meanings, or without a definite instant, and the forms that work instead. */
const AMBIGUOUS: ReadonlyMap<string, readonly string[]> = new Map([
  ['biweekly', ['every 2 weeks on monday', 'every monday and thursday']],
  ['bimonthly', ['every 2 months on the 1st', 'on the 1st and 15th of every month']],
  ['quarterly', QUARTERLY],
])
/** The words for parts of the day. */
export const DAY_PART_WORDS: ReadonlyMap<string, DayPart> = new Map<string, DayPart>(
  DAY_PARTS.flatMap((part) => [
    [part, part],
    [`${part}s`, part],
  ]),
)
const EACH = new Set(['a', 'an', 'per', 'every', 'each'])
const INTERVAL_MAX = 1000

/** Parses a frequency at the start of these words: 'every 2 weeks', 'each monday', 'daily', 'once a week'. */
export function readFrequency(words: string[], phrase: PhraseInput): Clause | null {
  const [first = '', second = '', third = ''] = words
  const forms = AMBIGUOUS.get(first)
  if (forms !== undefined) throw new WakefulError('phrase.ambiguous', { word: first, forms })
  const adverb = ADVERBS.get(first)
  if (adverb !== undefined) return { parts: adverb, used: 1 }
  const often = timesPer(words)
  if (often !== null) throw new WakefulError('phrase.times_missing', { word: quote(often) })
  if (first === 'once' && EACH.has(second)) {
    const unit = UNITS.get(third)
    return unit === undefined ? null : everyAmount({ [unit]: 1 }, 3, phrase)
  }
  if (first !== 'every' && first !== 'each') return null
  return after(1, readEvery(words.slice(1), phrase))
}

function readEvery(words: string[], phrase: PhraseInput): Clause | null {
  const [first = '', second = '', third = ''] = words
  if (first === 'other') return readOther(words, phrase)
  const part = DAY_PART_WORDS.get(first)
  if (part !== undefined)
    return { parts: { frequency: { unit: 'day', interval: 1 }, dayPart: part }, used: 1 }
  const fraction = readFraction(words, phrase)
  if (fraction !== null) return fraction
  if (first === 'quarter')
    throw new WakefulError('phrase.ambiguous', { word: 'every quarter', forms: QUARTERLY })
  // 'every second day' is every 2 days; 'every second' alone and 'every second monday of …' are not.
  const nth = ordinalOf(first)
  const nthUnit = UNITS.get(second)
  if (nth !== null && nth > 1 && nthUnit !== undefined && third !== 'of') {
    return everyAmount({ [nthUnit]: nth }, 2, phrase)
  }
  if (nth !== null && nth > 1 && /^weekends?$/.test(second)) {
    return { parts: { frequency: { unit: 'week', interval: nth }, weekdays: [6, 7] }, used: 2 }
  }
  const alone = UNITS.get(first)
  if (alone !== undefined && !(nth !== null && isOrdinal(words)))
    return everyAmount({ [alone]: 1 }, 1, phrase)
  const read = readAmount(words)
  if (read !== null) return everyAmount(read.amount, read.used, phrase)
  return readDays(words) ?? readMonths(words)
}

/** Whether 'second' is an ordinal, because a weekday or another ordinal follows, and not the unit. */
function isOrdinal([, ...rest]: string[]): boolean {
  const [next] = rest
  if (workingDayLength(rest) > 0) return true
  return weekdayOf(next) !== null || next === 'weekday' || next === 'and' || ordinalOf(next) !== null
}

/** Parses 'every other day', 'every other tuesday and thursday', 'every other weekend'. */
function readOther(words: string[], phrase: PhraseInput): Clause | null {
  const unit = UNITS.get(words[1] ?? '')
  if (unit !== undefined) return everyAmount({ [unit]: 2 }, 2, phrase)
  if (words[1] === 'weekday' || workingDayLength(words.slice(1)) > 0) {
    const word = words[1] === 'weekday' ? 'every other weekday' : 'every other working day'
    const forms = ['every monday, wednesday and friday', 'every 2 weeks on weekdays']
    throw new WakefulError('phrase.ambiguous', { word, forms })
  }
  const days = readWeekdays(words.slice(1))
  return days && { parts: { frequency: { unit: 'week', interval: 2 }, ...days.parts }, used: days.used + 1 }
}

/** Parses 'every half hour', 'every quarter of an hour'. */
function readFraction([first, ...rest]: string[], phrase: PhraseInput): Clause | null {
  const minutes = first === 'half' ? 30 : first === 'quarter' ? 15 : 0
  const hour = rest.indexOf('hour')
  const between = rest.slice(0, hour).join(' ')
  if (minutes === 0 || hour === -1 || !['', 'an', 'of an'].includes(between)) return null
  return everyAmount({ minutes }, hour + 2, phrase)
}

/** The clause of a step: hours and less are a length of time, and days and more one unit of the calendar. */
function everyAmount(amount: Amount, used: number, phrase: PhraseInput): Clause {
  const units = Object.keys(amount) as Unit[]
  const unit = units.find((each) => UNIT_MS[each] === undefined)
  if (unit === undefined) {
    const everyMs = elapsedMs(amount)
    if (everyMs > DURATION_MAX_MS) throw new WakefulError('duration.too_long', { text: quote(phrase.text) })
    if (everyMs >= 1000 && Number.isSafeInteger(everyMs)) return { parts: { frequency: { everyMs } }, used }
    throw phrase.refusal('phrase.too_often', {})
  }
  if (units.length > 1) throw phrase.refusal('phrase.mixed_units', { units })
  const interval = amount[unit]!
  if (interval < 1 || interval > INTERVAL_MAX) {
    throw phrase.refusal('phrase.step_out_of_range', { count: interval, unit, max: INTERVAL_MAX })
  }
  return { parts: { frequency: { unit: unit.slice(0, -1) as CalendarUnit, interval } }, used }
}

/** 'twice a day' or '3 times per week' at the start of these words, which say how often but not when. */
function timesPer(words: string[]): string | null {
  const times = words[1] === 'times' ? 2 : words[0] === 'twice' || words[0] === 'thrice' ? 1 : 0
  const [per = '', unit = ''] = words.slice(times)
  if (times === 0 || !(ADVERBS.has(per) || (EACH.has(per) && UNITS.has(unit)))) return null
  return words.slice(0, times + (EACH.has(per) ? 2 : 1)).join(' ')
}
