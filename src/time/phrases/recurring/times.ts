import { MONTHS, UNITS } from '../../text/index.ts'
import { type ParsedTime, readTimeWord } from '../time-of-day.ts'
import { andLength } from './days.ts'
import { type Clause, type ClockWord, type DayPart, type PhraseInput, refusal } from './parsed.ts'

const BARE = /^\d{1,2}$/
const CLOCK = /^\d{1,2}(?:[:.]\d\d(?::\d\d)?(?:[ap]m)?|[ap]m)$/
const NAMED = new Set(['noon', 'midday', 'midnight'])
const WINDOW_JOINTS = new Set(['and', 'to', 'until', 'till', '-'])
/** The hours of each part of the day on a 12-hour clock, before and after noon. */
const DAY_PARTS: Record<DayPart, { am: number[]; pm: number[] }> = {
  morning: { am: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], pm: [] },
  afternoon: { am: [], pm: [12, 1, 2, 3, 4, 5, 6] },
  evening: { am: [], pm: [4, 5, 6, 7, 8, 9, 10, 11] },
  night: { am: [12, 1, 2, 3, 4], pm: [7, 8, 9, 10, 11] },
}

/** Whether a word is a time of day; a bare number is one only after 'at'. */
export function isClock(word: string | undefined, afterAt: boolean): boolean {
  return word !== undefined && (NAMED.has(word) || CLOCK.test(word) || (afterAt && BARE.test(word)))
}

/** Parses 'at 9am', '9am and 5pm', 'at 9, 12 and 15' at the start of these words. */
export function readClocks(words: string[]): Clause | null {
  const at = words[0] === 'at' || words[0] === '@' ? 1 : 0
  const clocks: ClockWord[] = []
  let used = at
  for (;;) {
    const and = clocks.length === 0 ? 0 : andLength(words[used])
    const word = words[used + and]
    if (!isClock(word, at === 1) || isCounted(word!, words[used + and + 1])) break
    clocks.push({ word: word!, afterAt: at === 1 })
    used += and + 1
  }
  return clocks.length === 0 ? null : { parts: { clocks }, used }
}

/** Whether the number belongs to the word after it: '10 times', '24 december', '3 days'. */
function isCounted(word: string, next: string | undefined): boolean {
  if (!BARE.test(word) || next === undefined) return false
  return next === 'times' || next === 'occurrences' || UNITS.has(next) || MONTHS.has(next)
}

/** Parses 'between 9 and 17', 'from 9am to 5pm', 'between 9-17'; null if the words are no span of the day. */
export function readWindow(words: string[]): Clause | null {
  if (words[0] !== 'between' && words[0] !== 'from') return null
  const [from, to, more] = words[1]?.split('-') ?? []
  if (to !== undefined && more === undefined && isClock(from, true) && isClock(to, true)) {
    return { parts: { window: [clock(from!), clock(to)] }, used: 2 }
  }
  if (!isClock(words[1], true) || !WINDOW_JOINTS.has(words[2] ?? '') || !isClock(words[3], true)) return null
  return { parts: { window: [clock(words[1]!), clock(words[3]!)] }, used: 4 }
}

function clock(word: string): ClockWord {
  return { word, afterAt: true }
}

/** Resolves times of day, sorted; ambiguous hours (am or pm) are refused. */
export function timesOf(
  clocks: ClockWord[],
  dayPart: DayPart | undefined,
  phrase: PhraseInput,
): ParsedTime[] {
  const on24 = clocks.some(({ word }) => is24Hour(word))
  const times = clocks.map(({ word, afterAt }) => {
    const time = timeOf(word, afterAt, on24, dayPart, phrase)
    if (time.note !== undefined) phrase.notes.push(time.note)
    return time
  })
  const seconds = (time: ParsedTime) => (time.hour * 60 + time.minute) * 60 + time.second
  const once = new Map(times.map((time) => [seconds(time), time]))
  return [...once].sort(([a], [b]) => a - b).map(([, time]) => time)
}

function timeOf(
  word: string,
  afterAt: boolean,
  on24: boolean,
  dayPart: DayPart | undefined,
  phrase: PhraseInput,
): ParsedTime {
  const hasNoHalf = BARE.test(word) || (CLOCK.test(word) && !word.endsWith('m'))
  const hour = Number.parseInt(word, 10)
  if (dayPart !== undefined) {
    const { am, pm } = DAY_PARTS[dayPart]
    const half = am.includes(hour) ? 'am' : pm.includes(hour) ? 'pm' : undefined
    const time = readTimeWord(hasNoHalf && half !== undefined ? `${word}${half}` : word, {
      afterAt,
      tonight: false,
    })!
    const hoursOfHalf = time.hour < 12 ? am : pm
    if (!hoursOfHalf.includes(time.hour % 12 || 12)) {
      throw refusal(
        phrase,
        `'${word}' is not a time of the ${dayPart}. Use '9am', '3pm' or '21:00' without it`,
      )
    }
    return hasNoHalf && half !== undefined && hour !== time.hour
      ? { ...time, note: `'${word}' in the ${dayPart} is read as ${word}${half}` }
      : time
  }
  if (on24 && hasNoHalf) {
    const { note: _note, ...time } = readTimeWord(BARE.test(word) ? `${word}:00` : word, {
      afterAt,
      tonight: false,
    })!
    return BARE.test(word) ? { ...time, note: `'${word}' is read on the 24-hour clock` } : time
  }
  return readTimeWord(word, { afterAt, tonight: false })!
}

/** Whether a word is certainly on the 24-hour clock ('17', '17:00', '00:30'); then the hours beside it are too. */
function is24Hour(word: string): boolean {
  if (!BARE.test(word) && !(CLOCK.test(word) && !word.endsWith('m'))) return false
  const hour = Number.parseInt(word, 10)
  return hour === 0 || hour > 12
}

/** The full hours of a span of the day; the end is exclusive, and 0 is midnight. */
export function hoursOf(window: [ClockWord, ClockWord], phrase: PhraseInput): { from: number; to: number } {
  const [first, second] = window
  const last = second.word === '24' || second.word === '24:00' ? { word: '0:00', afterAt: true } : second
  const on24 = is24Hour(first.word) || is24Hour(last.word)
  const bare = [first, last].filter(({ word }) => BARE.test(word))
  if (bare.length > 0 && !on24) {
    const half = (clock: ClockWord, name: string) =>
      bare.includes(clock) ? `${clock.word}${name}` : clock.word
    const reading = (a: string, b: string) => `'between ${half(first, a)} and ${half(last, b)}'`
    const [same, other] =
      Number.parseInt(first.word, 10) % 12 < Number.parseInt(last.word, 10) % 12 ? ['am', 'pm'] : ['pm', 'am']
    throw refusal(
      phrase,
      `the hours are ambiguous. Use ${reading('am', same!)}, ${reading('pm', other!)} or 24-hour times`,
    )
  }
  const [from, to] = [first, last].map(({ word }) => {
    const time = timeOf(word, true, on24, undefined, phrase)
    if (time.note !== undefined && !BARE.test(word)) phrase.notes.push(time.note)
    if (time.minute !== 0 || time.second !== 0) {
      throw refusal(
        phrase,
        `a span runs between full hours, and '${word}' is not one. Use 'between 9:00 and 17:00'`,
      )
    }
    return time.hour
  }) as [number, number]
  if (from === to) throw refusal(phrase, 'the span is empty: it ends at the hour it starts')
  return { from, to }
}
