import type { Temporal } from 'temporal-polyfill'
import { WakefulError } from '../../error.ts'
import {
  correctionsOf,
  END_OF_DAY,
  looksLikeZone,
  pad2,
  quote,
  RECURRING,
  UNIT_MS,
  type Unit,
  wordsOf,
} from '../text/index.ts'
import { assertInstant, resolveWallTime, temporal } from '../zones/index.ts'
import { type Amount, elapsedMs, readAmount } from './amount.ts'
import { dayOf, type ParsedDate, readDate } from './date.ts'
import { type PhraseContext, PhraseInput } from './phrase-input.ts'
import {
  type DayPart,
  isClock,
  type ParsedTime,
  readDayPart,
  resolveTime,
  resolveTimeInPart,
} from './time-of-day.ts'
import { type ParsedWorkingDays, readWorkingDays, workingDayAhead } from './working-days.ts'

/** A resolved phrase, with a note for everything that the phrase left open. */
export interface ResolvedPhrase {
  /** The wall time, if the phrase names one, as the epoch milliseconds it would be in UTC. */
  wall?: number
  at: number
  notes: string[]
}

interface ParsedPhrase {
  working?: ParsedWorkingDays
  date?: ParsedDate
  /** A time of day, as written. */
  time?: string
  dayPart?: DayPart
  amount?: Amount
}

/** The parts of one clause of a phrase, and how many words it used. */
interface Clause {
  parts: ParsedPhrase
  used: number
}

/** The time of day of a phrase that names none. */
export const DEFAULT_TIME: ParsedTime = { hour: 9, minute: 0, second: 0 }
/** The note about it. */
export const DEFAULT_TIME_NOTE = 'there is no time of day: 09:00 is used'

/**
 * Parses a phrase for one instant in a zone. Every word must be understood, because a phrase that is understood in part
 * would fire at the wrong time; otherwise the phrase is refused with the unknown words.
 */
export function parsePhrase(text: string, context: PhraseContext): ResolvedPhrase {
  const words = wordsOf(text)
  const recurring = words.find((word) => RECURRING.has(word))
  if (recurring !== undefined) {
    throw new WakefulError('phrase.recurs', { text: quote(text), word: recurring })
  }
  const phrase = new PhraseInput(text, context)
  const { notes } = phrase
  const isNow = words.at(-1) === 'now' && (words.length === 1 || words.join(' ') === 'right now')
  const found = isNow ? context.now : resolve(readWords(words, phrase), phrase)
  if (typeof found === 'number') return { at: assertInstant(found, text), notes }
  const { at, wall, note } = resolveWallTime(found, context.timezone, text, context.now)
  if (note !== undefined) notes.push(note)
  return { at, wall, notes }
}

function readWords(words: string[], phrase: PhraseInput): ParsedPhrase {
  const parsed: ParsedPhrase = {}
  const unknown: string[] = []
  for (let index = 0; index < words.length; ) {
    const rest = words.slice(index)
    const joint = rest[0] === 'at' || rest[0] === '@' || rest[0] === 'on' ? 1 : 0
    const clause = readClause(rest, joint, phrase)
    if (clause === null) unknown.push(rest[joint] ?? rest[0]!)
    else merge(parsed, clause.parts, phrase.text)
    index += clause?.used ?? joint + 1
  }
  if (unknown.length > 0) throw notUnderstood(phrase.text, unknown)
  return parsed
}

function readClause(words: string[], joint: number, phrase: PhraseInput): Clause | null {
  const working = readWorkingDays(words)
  if (working !== null) return { parts: { working }, used: working.used }
  const today = phrase.localNow.toPlainDate()
  const fromDate = readFromNow(words) ?? readAfterDate(words, today)
  if (fromDate !== null) return fromDate
  const part = readDayPart(words)
  if (part !== null) return { parts: { dayPart: part.dayPart }, used: part.used }
  if (words[0] === 'this' && readDayPart(words.slice(1)) !== null) {
    return { parts: { date: { kind: 'day', date: today, today: true } }, used: 1 }
  }
  const rest = words.slice(joint)
  if (rest.length === 0) return null
  const date = words[0] === 'at' && !rest.includes('end') ? null : readDate(rest, today)
  if (date !== null) return { parts: { date: date.date }, used: joint + date.used }
  // In '6 in the morning', the number is a time of day without 'at'.
  const afterAt = (joint === 1 && words[0] !== 'on') || readDayPart(rest.slice(1)) !== null
  return isClock(rest[0], afterAt) ? { parts: { time: rest[0]! }, used: joint + 1 } : null
}

/** Parses 'in 2 weeks', '2 weeks from now'. */
function readFromNow(words: string[]): Clause | null {
  const lead = words[0] === 'in' ? 1 : 0
  const read = readAmount(words.slice(lead))
  if (read === null) return null
  const { amount, used } = read
  if (lead === 1) return { parts: { amount }, used: used + 1 }
  return words[used] === 'from' && words[used + 1] === 'now' ? { parts: { amount }, used: used + 2 } : null
}

/** Parses 'a week from today', '2 days from next friday'. */
function readAfterDate(words: string[], today: Temporal.PlainDate): Clause | null {
  const read = readAmount(words)
  if (read === null || words[read.used] !== 'from' || elapses(read.amount)) return null
  const from = readDate(words.slice(read.used + 1), today)
  if (from === null) return null
  return {
    parts: { date: { kind: 'after', amount: read.amount, from: from.date } },
    used: read.used + 1 + from.used,
  }
}

/** Whether an amount has hours or shorter units, which are elapsed time and no days. */
function elapses(amount: Amount): boolean {
  return Object.keys(amount).some((unit) => UNIT_MS[unit as Unit] !== undefined)
}

/** Adds the parts of a clause; each may occur once. */
function merge(parsed: ParsedPhrase, clause: ParsedPhrase, text: string): void {
  const { date: before } = parsed
  const isPair = before !== undefined && clause.date !== undefined
  const weekday = [before, clause.date].find((date) => date?.kind === 'weekday')
  const other = [before, clause.date].find((date) => date?.kind !== 'weekday')
  // A weekday may stand beside 'next week' or a full date, with which it must agree.
  if (isPair && weekday?.kind === 'weekday' && other !== undefined) {
    // '3rd next friday' is not the 3rd of a month that is a Friday.
    if ('weekday' in other || (weekday.next && other.kind !== 'next week')) throw twice('date', text)
    parsed.date = { ...other, weekday: weekday.weekday }
    return
  }
  for (const part of Object.keys(clause) as (keyof ParsedPhrase)[]) {
    if (parsed[part] !== undefined) throw twice(TWICE[part], text)
  }
  Object.assign(parsed, clause)
}

const TWICE = { working: 'date', date: 'date', time: 'time', dayPart: 'time', amount: 'amount' } as const

function twice(part: 'date' | 'time' | 'amount', text: string): WakefulError {
  return new WakefulError('phrase.twice', { text: quote(text), part })
}

/** The wall time or the instant of a phrase. */
function resolve(parsed: ParsedPhrase, phrase: PhraseInput): Temporal.PlainDateTime | number {
  const { working, amount, date } = parsed
  if (working !== undefined) return onWorkingDay(parsed, working, phrase)
  if (amount !== undefined) return fromNow(parsed, amount, phrase)
  const { text, localNow, notes } = phrase
  const time = timeOf(parsed, phrase)
  if (date === undefined && time === undefined) throw notUnderstood(text, [])
  if (time === undefined) notes.push(DEFAULT_TIME_NOTE)
  const clock = time ?? DEFAULT_TIME
  const wall = dayOf(date, clock, phrase).toPlainDateTime(clock)
  if (wall.dayOfWeek !== (date?.weekday ?? wall.dayOfWeek)) {
    throw new WakefulError('phrase.wrong_weekday', { text: quote(text), date: String(wall.toPlainDate()) })
  }
  const passed = temporal.PlainDateTime.compare(wall, localNow.toPlainDateTime()) <= 0
  const isOpen = parsed.time === undefined || parsed.time === END_OF_DAY
  if (isOpen && passed && date?.kind === 'day' && date.today) {
    throw phrase.refusal('phrase.default_time_passed', { time: `${pad2(clock.hour)}:${pad2(clock.minute)}` })
  }
  return wall
}

/** The time of day that a phrase names, by a clock time or by a word; undefined if it names none. */
function timeOf({ time, dayPart, date }: ParsedPhrase, phrase: PhraseInput): ParsedTime | undefined {
  const isTonight = date?.kind === 'day' && date.tonight === true
  const found = (() => {
    if (time === undefined) {
      if (dayPart !== undefined) return phrase.timeOf(dayPart)
      if (isTonight) return phrase.timeOf('tonight')
      return date?.kind === 'day' && date.end ? phrase.timeOf(END_OF_DAY) : undefined
    }
    if (dayPart === undefined) return resolveTime(time, phrase, isTonight)
    const within = resolveTimeInPart(time, dayPart, phrase)
    // 'friday night at 1am' may be on Friday or on Saturday.
    const isNextDay = dayPart === 'night' && within.hour < 12
    phrase.refuseIf(isNextDay && date !== undefined, 'phrase.not_in_day_part', { word: time, part: dayPart })
    return within
  })()
  if (found?.note !== undefined) phrase.notes.push(found.note)
  return found
}

/** Resolves 'next working day at 9am', 'in 3 working days'; without a time of day, the latter keeps the present one. */
function onWorkingDay(
  parsed: ParsedPhrase,
  working: ParsedWorkingDays,
  phrase: PhraseInput,
): Temporal.PlainDateTime {
  if (parsed.date !== undefined || parsed.amount !== undefined) throw twice('date', phrase.text)
  const day = workingDayAhead(working, phrase)
  phrase.notes.push(`read as ${day}, a working day`)
  const time = timeOf(parsed, phrase)
  if (time === undefined && working.counted) return day.toPlainDateTime(phrase.localNow.toPlainTime())
  if (time === undefined) phrase.notes.push(DEFAULT_TIME_NOTE)
  return day.toPlainDateTime(time ?? DEFAULT_TIME)
}

function fromNow(parsed: ParsedPhrase, amount: Amount, phrase: PhraseInput): Temporal.PlainDateTime | number {
  const { text, localNow, notes } = phrase
  if (parsed.date !== undefined) throw twice('date', text)
  const time = timeOf(parsed, phrase)
  phrase.refuseIf(time !== undefined && elapses(amount), 'phrase.time_and_hours', {})
  const { years = 0, months = 0, weeks = 0, days = 0 } = amount
  try {
    const day = localNow.add({ years, months, weeks, days })
    if (days === 0 && weeks === 0 && day.day !== localNow.day) {
      notes.push(`there is no day ${localNow.day} in that month: its last, ${day.toPlainDate()}, is used`)
    }
    // Rounded up, so that nothing fires early.
    if (time === undefined) return day.epochMilliseconds + Math.ceil(elapsedMs(amount))
    return day.toPlainDate().toPlainDateTime(time)
  } catch (cause) {
    throw new WakefulError('instant.out_of_range', { text: quote(text) }, { cause })
  }
}

const ISO_LIKE = /^\d{4}-\d\d-\d\d(?:t|$)|^\d{8}t/i

function notUnderstood(text: string, words: string[]): WakefulError {
  if (ISO_LIKE.test(text.trim())) return new WakefulError('phrase.no_such_date', { text: quote(text) })
  return new WakefulError('phrase.not_understood', {
    text: quote(text),
    words: words.slice(0, 5).map(quote),
    corrections: correctionsOf(words),
    zone: words.some(looksLikeZone),
  })
}
