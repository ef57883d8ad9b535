import { DURATION_MAX_MS } from '../../durations/index.ts'
import { quote, UNITS, type Unit } from '../../text/index.ts'
import { type ParsedAmount, readAmount } from '../relative.ts'
import { ordinalOf, readDays, readMonths, readWeekdays, weekdayOf, workingDayLength } from './days.ts'
import {
  type CalendarUnit,
  type Clause,
  type DayPart,
  type Frequency,
  type PhraseInput,
  refusal,
} from './parsed.ts'

const MS: Partial<Record<Unit, number>> = {
  milliseconds: 1,
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
}
const CALENDAR: Partial<Record<Unit, CalendarUnit>> = {
  days: 'day',
  weeks: 'week',
  months: 'month',
  years: 'year',
}
const ADVERBS: ReadonlyMap<string, Frequency> = new Map<string, Frequency>([
  ['hourly', { everyMs: 3_600_000 }],
  ['daily', { unit: 'day', interval: 1 }],
  ['weekly', { unit: 'week', interval: 1 }],
  ['fortnightly', { unit: 'week', interval: 2 }],
  ['monthly', { unit: 'month', interval: 1 }],
  ['yearly', { unit: 'year', interval: 1 }],
  ['annually', { unit: 'year', interval: 1 }],
])
/** Words with two meanings, or without a definite instant, and the forms that work instead. */
const AMBIGUOUS: ReadonlyMap<string, string> = new Map([
  ['biweekly', "'every 2 weeks on monday' or 'every monday and thursday'"],
  ['bimonthly', "'every 2 months on the 1st' or 'on the 1st and 15th of every month'"],
  ['quarterly', "'every 3 months on the 1st starting 2027-01-01'"],
])
/** The words for parts of the day. */
export const DAY_PART_WORDS: ReadonlyMap<string, DayPart> = new Map<string, DayPart>(
  (['morning', 'afternoon', 'evening', 'night'] as const).flatMap((part) => [
    [part, part],
    [`${part}s`, part],
  ]),
)
const INTERVAL_MAX = 1000

/** Parses a frequency at the start of these words: 'every 2 weeks', 'each monday', 'daily', 'once a week'. */
export function readFrequency(words: string[], phrase: PhraseInput): Clause | null {
  const [first = '', second = '', third = ''] = words
  const alternatives = AMBIGUOUS.get(first)
  if (alternatives !== undefined) throw refusal(phrase, `'${first}' is ambiguous. Use ${alternatives}`)
  const adverb = ADVERBS.get(first)
  if (adverb !== undefined) return { parts: { frequency: adverb }, used: 1 }
  if (first === 'nightly')
    return { parts: { frequency: { unit: 'day', interval: 1 }, dayPart: 'night' }, used: 1 }
  if (isTimesPer(words)) throw timesPerError(phrase, words)
  if (first === 'once' && isEach(second)) {
    const unit = UNITS.get(third)
    return unit === undefined ? null : { parts: { frequency: frequencyOf({ [unit]: 1 }, phrase) }, used: 3 }
  }
  if (first !== 'every' && first !== 'each') return null
  const read = readEvery(words.slice(1), phrase)
  return read === null ? null : { ...read, used: read.used + 1 }
}

function readEvery(words: string[], phrase: PhraseInput): Clause | null {
  const [first = '', second = '', third = ''] = words
  if (first === 'other') return readOther(words, phrase)
  const part = DAY_PART_WORDS.get(first)
  if (part !== undefined) {
    return { parts: { frequency: { unit: 'day', interval: 1 }, dayPart: part }, used: 1 }
  }
  const fraction = readFraction(words)
  if (fraction !== null) return fraction
  // 'every second day' is every 2 days; 'every second' alone and 'every second monday of …' are not.
  const nth = ordinalOf(first)
  const nthUnit = UNITS.get(second)
  if (nth !== null && nth > 1 && nthUnit !== undefined && third !== 'of') {
    return { parts: { frequency: frequencyOf({ [nthUnit]: nth }, phrase) }, used: 2 }
  }
  if (nth !== null && nth > 1 && /^weekends?$/.test(second)) {
    return { parts: { frequency: { unit: 'week', interval: nth }, weekdays: [6, 7] }, used: 2 }
  }
  const alone = UNITS.get(first)
  if (alone !== undefined && !(nth !== null && isOrdinal(words))) {
    return { parts: { frequency: frequencyOf({ [alone]: 1 }, phrase) }, used: 1 }
  }
  const amount = readAmount(words)
  if (amount !== null) return { parts: { frequency: frequencyOf(amount.amount, phrase) }, used: amount.used }
  return readDays(words) ?? readMonths(words)
}

/** Whether 'second' is an ordinal, because a weekday or another ordinal follows, and not the unit. */
function isOrdinal([, next, after]: string[]): boolean {
  if (workingDayLength([next ?? '', after ?? '']) > 0) return true
  return weekdayOf(next) !== null || next === 'weekday' || next === 'and' || ordinalOf(next) !== null
}

/** Parses 'every other day', 'every other tuesday and thursday', 'every other weekend'. */
function readOther(words: string[], phrase: PhraseInput): Clause | null {
  const unit = UNITS.get(words[1] ?? '')
  if (unit !== undefined) return { parts: { frequency: frequencyOf({ [unit]: 2 }, phrase) }, used: 2 }
  if (words[1] === 'weekday' || workingDayLength(words.slice(1)) > 0) {
    throw refusal(
      phrase,
      "'every other weekday' or working day is ambiguous. Use 'every monday, wednesday and friday' or 'every 2 weeks on weekdays'",
    )
  }
  const days = readWeekdays(words.slice(1))
  if (days === null) return null
  return { parts: { frequency: { unit: 'week', interval: 2 }, ...days.parts }, used: days.used + 1 }
}

/** Parses 'every half hour', 'every quarter of an hour'. */
function readFraction([first, ...rest]: string[]): Clause | null {
  const minutes = first === 'half' ? 30 : first === 'quarter' ? 15 : 0
  if (minutes === 0) return null
  const hour = rest.indexOf('hour')
  const between = rest.slice(0, hour).join(' ')
  if (hour === -1 || !['', 'an', 'of an'].includes(between)) return null
  return { parts: { frequency: { everyMs: minutes * 60_000 } }, used: hour + 2 }
}

function frequencyOf(amount: ParsedAmount['amount'], phrase: PhraseInput): Frequency {
  const parts = Object.entries(amount) as [Unit, number][]
  const calendar = parts.filter(([unit]) => CALENDAR[unit] !== undefined)
  if (calendar.length === 0) {
    const ms = parts.reduce((total, [unit, count]) => total + count * MS[unit]!, 0)
    const everyMs = Number(ms.toFixed(3))
    if (everyMs > DURATION_MAX_MS) throw refusal(phrase, 'that is longer than 10,000 years')
    if (everyMs >= 1000 && Number.isSafeInteger(everyMs)) return { everyMs }
    throw refusal(phrase, 'a rule fires at most once a second, in whole milliseconds')
  }
  const [unit, interval] = calendar[0]!
  if (parts.length > 1) {
    throw refusal(phrase, `it mixes ${parts.map(([name]) => name).join(' and ')}. Use one unit, or hours`)
  }
  if (interval < 1 || interval > INTERVAL_MAX) {
    throw refusal(phrase, `it can repeat every 1 to ${INTERVAL_MAX} ${unit}, not every ${interval}`)
  }
  return { unit: CALENDAR[unit]!, interval }
}

function isEach(word: string | undefined): boolean {
  return word === 'a' || word === 'an' || word === 'per' || word === 'every' || word === 'each'
}

/** Whether the words are 'twice a day', '3 times per week', which say how often but not when. */
function isTimesPer(words: string[]): boolean {
  const times = words[1] === 'times' ? 2 : words[0] === 'twice' || words[0] === 'thrice' ? 1 : 0
  if (times === 0) return false
  const per = words[times] ?? ''
  return ADVERBS.has(per) || per === 'nightly' || (isEach(per) && UNITS.has(words[times + 1] ?? ''))
}

function timesPerError(phrase: PhraseInput, words: string[]): Error {
  const times = words[1] === 'times' ? 2 : 1
  const clause = words.slice(0, times + (isEach(words[times]) ? 2 : 1)).join(' ')
  return refusal(
    phrase,
    `${quote(clause)} does not name a time. Use 'every day at 9am and 9pm', 'every monday and thursday at 9am' or 'every 12 hours'`,
  )
}
