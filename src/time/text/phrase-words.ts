import { closest } from '../../errors/core.ts'
import { pad2 } from './text.ts'
import { MONTHS, NUMBERS, RECURRING, UNITS, WEEKDAYS } from './word-lists.ts'

/** The one word for 'end of day', 'the end of the day' and 'eod'. */
export const END_OF_DAY = 'eod'

const MINUTES: Readonly<Record<string, number>> = { half: 30, quarter: 15, five: 5, ten: 10, twenty: 20 }
const PAST = /(?<![\w:])(?:a )?(half|quarter|(?:\d{1,2}|five|ten|twenty)(?: minutes)?) past (\w+)(?![\w:])/g
// Only 'quarter to': in 'every 15 minutes from 9 to 5pm', '9 to 5pm' is a span.
const QUARTER_TO = /(?<![\w:])(?:a )?quarter to (\w+)(?![\w:])/g
const HOUR = /^(\d{1,2})([ap]m)?$/
const NAMED_HOURS: Readonly<Record<string, string>> = { noon: '12pm', midday: '12pm', midnight: '12am' }

/** Splits a phrase into lower-case words. Different spellings of the same thing become one: '5 p.m.', 'half past 5pm', 'eod'. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/[\s,]+/g, ' ')
    .replace(/(?<=[\d\s])([ap])\.m\.?(?=\s|$)/g, '$1m')
    .replace(/(\d) ([ap]m)\b/g, '$1$2')
    .replace(/[.! ]+$/, '')
    .replace(/\b(?:the )?end of (?:the )?day\b/g, END_OF_DAY)
    .replace(/\b(?:a )?couple(?: of)? /g, '2 ')
    .replace(/\bhence\b/g, 'from now')
    .replace(/\b(?:(?:a|one) )?fortnight\b/g, '2 weeks')
    .replace(PAST, (all, minutes: string, hour: string) => clockTime(hour, minutesOf(minutes)) ?? all)
    .replace(QUARTER_TO, (all, hour: string) => clockTime(hour, -15) ?? all)
    .split(' ')
    .filter((word) => word !== '')
}

function minutesOf(words: string): number {
  const [first = ''] = words.split(' ')
  return MINUTES[first] ?? Number(first)
}

/** The time some minutes after or before a full hour. Without 'am' or 'pm' the hour stays as open as it was. */
function clockTime(hourWord: string, minutes: number): string | null {
  const match = HOUR.exec(NAMED_HOURS[hourWord] ?? String(NUMBERS.get(hourWord) ?? hourWord))
  if (match === null || minutes >= 60) return null
  const [hour, half] = [Number(match[1]), match[2]]
  const minute = pad2((minutes + 60) % 60)
  // Not a time: 'half past 13pm' stays visible as '13:30pm' in the error.
  if (half !== undefined && (hour < 1 || hour > 12)) return `${hour}:${minute}${half}`
  const before = minutes < 0 ? 1 : 0
  if (half !== undefined)
    return `${pad2(((hour % 12) + (half === 'pm' ? 12 : 0) - before + 24) % 24)}:${minute}`
  return `${hour === 1 && before === 1 ? 12 : hour - before}:${minute}`
}

/** The words of phrases that people misspell. Short ones are too close to other words. */
const SPELLED = [
  ...[...WEEKDAYS.keys(), ...MONTHS.keys(), ...UNITS.keys(), ...RECURRING],
  ...'today tomorrow tonight morning afternoon evening night midnight noon midday'.split(' '),
  ...'next after before between until except starting working business first second third last'.split(' '),
].filter((word) => word.length >= 4)

const MISSPELT_LENGTH_MIN = 4
/** Words without a definite time that are spelt right: 'soon' is no misspelt 'noon'. */
const VAGUE: ReadonlySet<string> = new Set(['soon', 'sooner', 'later', 'ever', 'never'])

/** The words that these probably are, where they are misspelt: 'tomorrow' for 'tomorow'. */
export function correctionsOf(words: readonly string[]): string[] {
  const corrections = words.flatMap((word) => {
    if (word.length < MISSPELT_LENGTH_MIN || VAGUE.has(word)) return []
    const correction = closest(word, SPELLED, word.length > 5 ? 2 : 1)
    return correction === null || correction === word ? [] : [correction]
  })
  return [...new Set(corrections)]
}
