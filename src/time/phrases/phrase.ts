import { WakefulError } from '../../error.ts'
import { looksLikeZone, quote, RECURRING, UNIT_MS, type Unit, wordsOf } from '../text/index.ts'
import { assertInstant, resolveWallTime, temporal } from '../zones/index.ts'
import { type Amount, elapsedMs, readAmount } from './amount.ts'
import { dayOf, type ParsedDate, readDate } from './date.ts'
import { type PhraseContext, PhraseInput } from './phrase-input.ts'
import { type ParsedTime, readTimeWord } from './time-of-day.ts'
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
  time?: ParsedTime
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
  const found = words.join() === 'now' ? context.now : resolve(readWords(words, phrase), phrase)
  if (typeof found === 'number') return { at: assertInstant(found, text), notes }
  const { at, wall, note } = resolveWallTime(found, context.timezone, text, context.now)
  if (note !== undefined) notes.push(note)
  return { at, wall, notes }
}

function readWords(words: string[], phrase: PhraseInput): ParsedPhrase {
  const parsed: ParsedPhrase = {}
  const unknown: string[] = []
  const isTonight = words.includes('tonight')
  for (let index = 0; index < words.length; ) {
    const rest = words.slice(index)
    const joint = rest[0] === 'at' || rest[0] === '@' || rest[0] === 'on' ? 1 : 0
    const clause = readClause(rest, joint, isTonight, phrase)
    if (clause === null) unknown.push(rest[joint] ?? rest[0]!)
    else merge(parsed, clause.parts, phrase.text)
    index += clause?.used ?? joint + 1
  }
  if (unknown.length > 0) throw notUnderstood(phrase.text, unknown)
  return parsed
}

function readClause(words: string[], joint: number, isTonight: boolean, phrase: PhraseInput): Clause | null {
  const working = readWorkingDays(words)
  if (working !== null) return { parts: { working }, used: working.used }
  const fromNow = readFromNow(words)
  if (fromNow !== null) return fromNow
  const rest = words.slice(joint)
  if (rest.length === 0) return null
  const date = words[0] === 'at' ? null : readDate(rest, phrase.localNow.toPlainDate())
  if (date !== null) return { parts: { date: date.date }, used: joint + date.used }
  const time = readTimeWord(rest[0]!, joint === 1 && words[0] !== 'on', isTonight)
  return time === null ? null : { parts: { time }, used: joint + 1 }
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
    if (parsed[part] !== undefined) throw twice(part === 'working' ? 'date' : part, text)
  }
  Object.assign(parsed, clause)
}

function twice(part: 'date' | 'time' | 'amount', text: string): WakefulError {
  return new WakefulError('phrase.twice', { text: quote(text), part })
}

/** The wall time or the instant of a phrase. */
function resolve(parsed: ParsedPhrase, phrase: PhraseInput): Temporal.PlainDateTime | number {
  const { working, amount, date, time } = parsed
  if (working !== undefined) return onWorkingDay(parsed, working, phrase)
  if (amount !== undefined) return fromNow(parsed, amount, phrase)
  const { text, localNow, notes } = phrase
  if (date === undefined && time === undefined) throw notUnderstood(text, [])
  if (date?.kind === 'day' && date.tonight && time === undefined) {
    throw new WakefulError('phrase.no_time_of_day', { text: quote(text), say: "'tonight at 8pm'" })
  }
  if (time?.note !== undefined) notes.push(time.note)
  const clock = time ?? DEFAULT_TIME
  const wall = dayOf(date, clock, phrase).toPlainDateTime(clock)
  if (wall.dayOfWeek !== (date?.weekday ?? wall.dayOfWeek)) {
    throw new WakefulError('phrase.wrong_weekday', { text: quote(text), date: String(wall.toPlainDate()) })
  }
  if (time !== undefined) return wall
  const passed = temporal.PlainDateTime.compare(wall, localNow.toPlainDateTime()) <= 0
  phrase.refuseIf(passed && date?.kind === 'day' && date.today, 'phrase.default_time_passed', {})
  notes.push(DEFAULT_TIME_NOTE)
  return wall
}

/** Resolves 'next working day at 9am', 'in 3 working days'; without a time of day, the latter keeps the present one. */
function onWorkingDay(
  { time, date, amount }: ParsedPhrase,
  working: ParsedWorkingDays,
  phrase: PhraseInput,
): Temporal.PlainDateTime {
  if (date !== undefined || amount !== undefined) throw twice('date', phrase.text)
  const day = workingDayAhead(working, phrase)
  phrase.notes.push(`read as ${day}, a working day`)
  if (time?.note !== undefined) phrase.notes.push(time.note)
  if (time === undefined && working.counted) return day.toPlainDateTime(phrase.localNow.toPlainTime())
  if (time === undefined) phrase.notes.push(DEFAULT_TIME_NOTE)
  return day.toPlainDateTime(time ?? DEFAULT_TIME)
}

function fromNow(
  { date, time }: ParsedPhrase,
  amount: Amount,
  phrase: PhraseInput,
): Temporal.PlainDateTime | number {
  const { text, localNow, notes } = phrase
  if (date !== undefined) throw twice('date', text)
  const elapses = Object.keys(amount).some((unit) => UNIT_MS[unit as Unit] !== undefined)
  phrase.refuseIf(time !== undefined && elapses, 'phrase.time_and_hours', {})
  const { years = 0, months = 0, weeks = 0, days = 0 } = amount
  try {
    const day = localNow.add({ years, months, weeks, days })
    if (days === 0 && weeks === 0 && day.day !== localNow.day) {
      notes.push(`there is no day ${localNow.day} in that month: its last, ${day.toPlainDate()}, is used`)
    }
    // Rounded up, so that nothing fires early.
    if (time === undefined) return day.epochMilliseconds + Math.ceil(elapsedMs(amount))
    if (time.note !== undefined) notes.push(time.note)
    return day.toPlainDate().toPlainDateTime(time)
  } catch (cause) {
    throw new WakefulError('instant.out_of_range', { text: quote(text) }, { cause })
  }
}

const ISO_LIKE = /^\d{4}-\d\d-\d\d(?:t|$)|^\d{8}t/i
const DAY_PART = /^(?:(.+) )?(morning|afternoon|evening|night)$/i
const DAY_PART_WORDS = ['this', 'in', 'the', 'morning', 'afternoon', 'evening', 'night']
const TIME_OF: Record<string, string> = { morning: '9am', afternoon: '3pm', evening: '7pm', night: '10pm' }

/** For 'tomorrow morning', which has no definite time of day: a form that has one. */
function suggestTimeOfDay(text: string, words: readonly string[]): string | null {
  const [, day, part] = DAY_PART.exec(text.trim().replace(/\bin the /i, '')) ?? []
  if (part === undefined || !words.every((word) => DAY_PART_WORDS.includes(word))) return null
  const time = TIME_OF[part.toLowerCase()]!
  if (day === undefined) return time
  return `${/^this$/i.test(day) ? 'today' : day} at ${time}`
}

function notUnderstood(text: string, words: string[]): WakefulError {
  const better = suggestTimeOfDay(text, words)
  if (better !== null)
    return new WakefulError('phrase.no_time_of_day', { text: quote(text), say: quote(better) })
  if (ISO_LIKE.test(text.trim())) return new WakefulError('phrase.no_such_date', { text: quote(text) })
  const named = words.slice(0, 5).map(quote)
  const zone = words.some(looksLikeZone)
  return new WakefulError('phrase.not_understood', { text: quote(text), words: named, zone })
}
