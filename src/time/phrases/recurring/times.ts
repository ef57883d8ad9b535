import { WakefulError } from '../../../error.ts'
import { MONTHS, pad2, UNITS } from '../../text/index.ts'
import type { PhraseInput } from '../phrase-input.ts'
import {
  type ClockWord,
  type DayPart,
  hasNoHalf,
  isClock,
  type ParsedTime,
  resolveTime,
  resolveTimeInPart,
} from '../time-of-day.ts'
import { readList } from './days.ts'
import type { Clause } from './parsed.ts'

const BARE = /^\d{1,2}$/
const WINDOW_JOINTS = new Set(['and', 'to', 'until', 'till', '-'])
/** Parses 'at 9am', '9am and 5pm', 'at 9, 12 and 15' at the start of these words. */
export function readClocks(words: string[]): Clause | null {
  const afterAt = words[0] === 'at' || words[0] === '@'
  const lead = afterAt ? 1 : 0
  const clocks: ClockWord[] = []
  const used = readList(words.slice(lead), ([word, next]) => {
    if (!isClock(word, afterAt) || isCounted(word!, next)) return 0
    clocks.push({ word: word!, afterAt })
    return 1
  })
  return used === 0 ? null : { parts: { clocks }, used: used + lead }
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
  const times = clocks.map((clock) => timeOf(clock, on24, dayPart, phrase))
  for (const { note } of times) if (note !== undefined) phrase.notes.push(note)
  const seconds = (time: ParsedTime) => (time.hour * 60 + time.minute) * 60 + time.second
  const once = new Map(times.map((time) => [seconds(time), time]))
  return [...once].sort(([a], [b]) => a - b).map(([, time]) => time)
}

function timeOf(
  { word }: ClockWord,
  on24: boolean,
  dayPart: DayPart | undefined,
  phrase: PhraseInput,
): ParsedTime {
  if (dayPart !== undefined) return resolveTimeInPart(word, dayPart, phrase)
  if (!on24 || !hasNoHalf(word)) return resolveTime(word, phrase)
  const [hour = 0, minute = 0, second = 0] = word.split(/[:.]/).map(Number)
  const { note: _note, ...time } = resolveTime(`${pad2(hour)}:${pad2(minute)}:${pad2(second)}`, phrase)
  return BARE.test(word) ? { ...time, note: `'${word}' is read on the 24-hour clock` } : time
}

/** Whether a word is certainly on the 24-hour clock ('17', '17:00', '00:30'); then the hours beside it are too. */
function is24Hour(word: string): boolean {
  const hour = Number.parseInt(word, 10)
  return hasNoHalf(word) && (hour === 0 || hour > 12)
}

/** The full hours of a span of the day; the end is exclusive, and 0 is midnight. */
export function hoursOf(window: [ClockWord, ClockWord], phrase: PhraseInput): { from: number; to: number } {
  const [first, second] = window
  const last = second.word === '24' || second.word === '24:00' ? clock('0:00') : second
  const on24 = is24Hour(first.word) || is24Hour(last.word)
  const isOpen = phrase.settings.clock === undefined && !on24
  if (isOpen && (BARE.test(first.word) || BARE.test(last.word))) throw ambiguousSpan(first.word, last.word)
  const [from, to] = [first, last].map((end) => {
    const time = timeOf(end, on24, undefined, phrase)
    if (time.note !== undefined && !BARE.test(end.word)) phrase.notes.push(time.note)
    if (time.minute === 0 && time.second === 0) return time.hour
    throw phrase.refusal('phrase.span_not_full_hour', { word: end.word })
  }) as [number, number]
  if (from === to) throw phrase.refusal('phrase.span_empty', {})
  return { from, to }
}

function ambiguousSpan(first: string, last: string): Error {
  const half = (word: string, name: string) => (BARE.test(word) ? `${word}${name}` : word)
  const reading = (a: string, b: string) => `between ${half(first, a)} and ${half(last, b)}`
  const isSameHalf = Number.parseInt(first, 10) % 12 < Number.parseInt(last, 10) % 12
  const [same, other] = isSameHalf ? ['am', 'pm'] : ['pm', 'am']
  const forms = [reading('am', same!), reading('pm', other!)]
  return new WakefulError('phrase.ambiguous', { word: `between ${first} and ${last}`, forms })
}
