import { WakefulError } from '../../error.ts'
import { END_OF_DAY, pad2 } from '../text/index.ts'
import type { PhraseInput } from './phrase-input.ts'

/** A time of day in a phrase. */
export interface ParsedTime {
  hour: number
  minute: number
  second: number
  midnight?: true
  note?: string
}

/** A time of day as written; its meaning may depend on the words around it. */
export interface ClockWord {
  word: string
  afterAt: boolean
}

/** A part of the day. */
export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night'

/** The words for parts of the day. */
export const DAY_PARTS: readonly DayPart[] = ['morning', 'afternoon', 'evening', 'night']

const CLOCK = /^(\d{1,2})(?:[:.](\d\d)(?::(\d\d))?)?([ap]m)?$/
const BARE = /^\d{1,2}$/
const NAMED = new Set(['noon', 'midday', 'midnight', END_OF_DAY])
/** The hours of each part of the day on a 12-hour clock, before and after noon. */
const HOURS: Record<DayPart, { am: number[]; pm: number[] }> = {
  morning: { am: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], pm: [] },
  afternoon: { am: [], pm: [12, 1, 2, 3, 4, 5, 6] },
  evening: { am: [], pm: [4, 5, 6, 7, 8, 9, 10, 11] },
  night: { am: [12, 1, 2, 3, 4], pm: [7, 8, 9, 10, 11] },
}
/** On the 12-hour clock, the first hour that is read as one before noon. */
const FIRST_AM_HOUR = 7

/** Whether a word is a time of day; a bare number is one only after 'at'. */
export function isClock(word: string | undefined, afterAt: boolean): boolean {
  if (word === undefined || NAMED.has(word)) return word !== undefined
  return CLOCK.test(word) && (afterAt || !BARE.test(word))
}

/** Whether a word is a time in digits alone, without am or pm. */
export function hasNoHalf(word: string): boolean {
  return CLOCK.test(word) && !word.endsWith('m')
}

/** Resolves a word to a time of day. A bare '5' is ambiguous (5am or 5pm), and refused if the settings do not say which clock. */
export function resolveTime(word: string, phrase: PhraseInput, isTonight = false): ParsedTime {
  if (word === 'noon' || word === 'midday') return { hour: 12, minute: 0, second: 0 }
  if (word === 'midnight') return { hour: 0, minute: 0, second: 0, midnight: true }
  if (word === END_OF_DAY) return phrase.timeOf(END_OF_DAY)
  const match = CLOCK.exec(word)
  if (match === null) throw noSuchTime(word)
  const hour = Number(match[1])
  const minute = Number(match[2] ?? 0)
  const second = Number(match[3] ?? 0)
  const half = match[4]
  if (half !== undefined) {
    if (hour < 1 || hour > 12) throw noSuchTime(word)
    return checked(word, { hour: (hour % 12) + (half === 'pm' ? 12 : 0), minute, second })
  }
  if (isTonight && hour >= 5 && hour <= 11) {
    return checked(word, { hour: hour + 12, minute, second, note: `'${word}' tonight is read as ${hour}pm` })
  }
  const isBare = BARE.test(word)
  // '9:00' is a 24-hour time, but without the leading zero it may be meant as 9pm: a note says how it is read.
  const isOpen = hour >= 1 && hour <= 12 && (isBare || match[1]!.length === 1)
  if (!isOpen) return checked(word, { hour, minute, second })
  const { clock } = phrase.settings
  if (isBare && clock === undefined) {
    const [am, pm] = [`${pad2(hour % 12)}:00`, `${(hour % 12) + 12}:00`]
    throw new WakefulError('phrase.ambiguous_hour', { word, hour, am, pm })
  }
  const read = clock === '12h' && hour < FIRST_AM_HOUR ? hour + 12 : hour
  const note = `'${word}' is read on the ${clock === '12h' ? 12 : 24}-hour clock: ${pad2(read)}:${pad2(minute)}`
  return checked(word, { hour: read, minute, second, note })
}

/** Resolves a word to a time within a part of the day, which says whether it is am or pm. */
export function resolveTimeInPart(word: string, part: DayPart, phrase: PhraseInput): ParsedTime {
  const hours = HOURS[part]
  const hour = Number.parseInt(word, 10)
  const halves = hasNoHalf(word) ? (['am', 'pm'] as const) : []
  const half = halves.find((name) => hours[name].includes(hour))
  const time = resolveTime(half === undefined ? word : `${word}${half}`, phrase)
  if (!hours[time.hour < 12 ? 'am' : 'pm'].includes(time.hour % 12 || 12)) {
    throw phrase.refusal('phrase.not_in_day_part', { word, part })
  }
  return half === undefined || hour === time.hour
    ? time
    : { ...time, note: `'${word}' in the ${part} is read as ${word}${half}` }
}

/** Parses 'in the morning', 'at night' or 'evening' at the start of these words. */
export function readDayPart(words: string[]): { dayPart: DayPart; used: number } | null {
  const lead = words[0] === 'in' && words[1] === 'the' ? 2 : words[0] === 'at' || words[0] === 'in' ? 1 : 0
  const dayPart = DAY_PARTS.find((part) => part === words[lead])
  return dayPart === undefined ? null : { dayPart, used: lead + 1 }
}

function checked(word: string, time: ParsedTime): ParsedTime {
  if (time.hour > 23 || time.minute > 59 || time.second > 59) throw noSuchTime(word)
  return time
}

function noSuchTime(word: string): Error {
  return new WakefulError('phrase.no_such_time', { word })
}
