import { WakefulError } from '../../error.ts'
import { type DaysOff, nonWorkingDays } from '../calendars/index.ts'
import { looksLikeZone, quote, RECURRING, wordsOf } from '../text/index.ts'
import { assertInstant, resolveWallTime, temporal, zoned } from '../zones/index.ts'
import { type ParsedDate, readDate } from './date.ts'
import { dayOf } from './day.ts'
import { type ParsedAmount, readAmount } from './relative.ts'
import { type ParsedTime, readTimeWord } from './time-of-day.ts'
import { type ParsedWorkingDays, readWorkingDays, workingDayAhead } from './working-days.ts'

/** A resolved phrase, with a note for everything that the phrase left open. */
export interface ResolvedPhrase {
  /** The wall time, if the phrase names one, as the epoch milliseconds it would be in UTC. */
  wall?: number
  at: number
  notes: string[]
}

/** What a phrase is resolved against: the present, the zone, and which days are no working days. */
export interface PhraseContext {
  now: number
  timezone: string
  /** Saturday and Sunday by default. */
  workingDays?: () => DaysOff
}

interface ParsedPhrase {
  working?: ParsedWorkingDays
  date?: ParsedDate
  time?: ParsedTime
  amount?: ParsedAmount
  now?: true
}

const DEFAULT_TIME: ParsedTime = { hour: 9, minute: 0, second: 0 }

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
  const localNow = zoned(context.timezone, context.now)
  const parsed = readWords(words, localNow.toPlainDate(), text)
  const { wall, notes, at } =
    parsed.working === undefined
      ? resolve(parsed, localNow, text)
      : onWorkingDay(parsed, parsed.working, localNow, text, context)
  if (at !== undefined) return { at: assertInstant(at, text), notes }
  const placed = resolveWallTime(wall!, context.timezone, text, context.now)
  if (placed.note !== undefined) notes.push(placed.note)
  return { at: placed.at, wall: placed.wall, notes }
}

function readWords(words: string[], today: Temporal.PlainDate, text: string): ParsedPhrase {
  const parsed: ParsedPhrase = {}
  const unknown: string[] = []
  const tonight = words.includes('tonight')
  for (let index = 0; index < words.length; ) {
    const rest = words.slice(index)
    const joint = rest[0] === 'at' || rest[0] === '@' || rest[0] === 'on' ? 1 : 0
    const working = readWorkingDays(rest)
    if (working !== null) {
      setPart(parsed, 'working', working, text)
      index += working.used
      continue
    }
    const fromNow = readFromNow(rest)
    if (fromNow !== null) {
      setPart(parsed, 'amount', fromNow, text)
      index += fromNow.used
      continue
    }
    const date = rest[0] === 'at' ? null : readDate(rest.slice(joint), today)
    if (rest.length > joint && date !== null) {
      mergeDate(parsed, date.date, text)
      index += joint + date.used
      continue
    }
    const time =
      rest.length > joint && readTimeWord(rest[joint]!, { afterAt: joint === 1 && rest[0] !== 'on', tonight })
    if (time) {
      setPart(parsed, 'time', time, text)
      index += joint + 1
      continue
    }
    if (rest[0] === 'now' && words.length === 1) return { now: true }
    unknown.push(rest[joint] ?? rest[0]!)
    index += joint + 1
  }
  if (unknown.length > 0) throw notUnderstood(text, unknown)
  return parsed
}

/** Parses 'in 2 weeks', '2 weeks from now'. */
function readFromNow(words: string[]): ParsedAmount | null {
  const led = words[0] === 'in'
  const amount = readAmount(led ? words.slice(1) : words)
  if (amount === null) return null
  if (led) return { ...amount, used: amount.used + 1 }
  const followed = words[amount.used] === 'from' && words[amount.used + 1] === 'now'
  return followed ? { ...amount, used: amount.used + 2 } : null
}

function setPart<K extends 'time' | 'amount' | 'date' | 'working'>(
  parsed: ParsedPhrase,
  part: K,
  value: NonNullable<ParsedPhrase[K]>,
  text: string,
): void {
  if (parsed[part] !== undefined) {
    throw new WakefulError('phrase.twice', { text: quote(text), part: part === 'working' ? 'date' : part })
  }
  parsed[part] = value as ParsedPhrase[K]
}

/** A weekday may stand beside 'next week' or a full date, with which it must agree. */
function mergeDate(parsed: ParsedPhrase, date: ParsedDate, text: string): void {
  const before = parsed.date
  const weekday = [before, date].find((part) => part?.kind === 'weekday')
  const other = [before, date].find((part) => part !== undefined && part.kind !== 'weekday')
  if (before === undefined || weekday?.kind !== 'weekday' || other === undefined) {
    setPart(parsed, 'date', date, text)
    return
  }
  // '3rd next friday' is not the 3rd of a month that is a Friday.
  if ('weekday' in other || (weekday.next && other.kind !== 'next week')) {
    throw new WakefulError('phrase.twice', { text: quote(text), part: 'date' })
  }
  parsed.date = { ...other, weekday: weekday.weekday }
}

function resolve(
  parsed: ParsedPhrase,
  localNow: Temporal.ZonedDateTime,
  text: string,
): { wall?: Temporal.PlainDateTime; at?: number; notes: string[] } {
  if (parsed.now === true) return { at: localNow.epochMilliseconds, notes: [] }
  if (parsed.amount !== undefined) return fromNow(parsed, parsed.amount, localNow, text)
  if (parsed.date === undefined && parsed.time === undefined) throw notUnderstood(text, [])
  const time = parsed.time ?? DEFAULT_TIME
  const notes = time.note === undefined ? [] : [time.note]
  if (parsed.date?.kind === 'day' && parsed.date.tonight && parsed.time === undefined) {
    throw new WakefulError('phrase.no_time_of_day', { text: quote(text), say: "'tonight at 8pm'" })
  }
  const clock = temporal.PlainTime.from({ hour: time.hour, minute: time.minute, second: time.second })
  const wall = dayOf(parsed.date, time, clock, localNow, notes).toPlainDateTime(clock)
  if (wall.dayOfWeek !== (parsed.date?.weekday ?? wall.dayOfWeek)) {
    throw new WakefulError('phrase.wrong_weekday', { text: quote(text), date: String(wall.toPlainDate()) })
  }
  if (parsed.time === undefined) {
    if (
      temporal.PlainDateTime.compare(wall, localNow.toPlainDateTime()) <= 0 &&
      parsed.date?.kind === 'day' &&
      parsed.date.today
    ) {
      throw new WakefulError('phrase.unsupported', {
        text: quote(text),
        detail: "it has no time of day, and 09:00 has passed. Say 'today at 5pm'",
      })
    }
    notes.push('there is no time of day: 09:00 is used')
  }
  return { wall, notes }
}

/** Resolves 'next working day at 9am', 'in 3 working days'; without a time of day, the latter keeps the present one. */
function onWorkingDay(
  { time, date, amount }: ParsedPhrase,
  working: ParsedWorkingDays,
  localNow: Temporal.ZonedDateTime,
  text: string,
  context: PhraseContext,
): { wall: Temporal.PlainDateTime; at?: number; notes: string[] } {
  if (date !== undefined || amount !== undefined)
    throw new WakefulError('phrase.twice', { text: quote(text), part: 'date' })
  const days = (context.workingDays ?? (() => nonWorkingDays(undefined, undefined)))()
  const day = workingDayAhead(working, localNow.toPlainDate(), days, text)
  const notes = [`read as ${day}, a working day`, ...(time?.note === undefined ? [] : [time.note])]
  if (time === undefined && working.counted)
    return { wall: day.toPlainDateTime(localNow.toPlainTime()), notes }
  if (time === undefined) notes.push('there is no time of day: 09:00 is used')
  const { hour, minute, second } = time ?? DEFAULT_TIME
  return { wall: day.toPlainDateTime({ hour, minute, second }), notes }
}

function fromNow(
  parsed: ParsedPhrase,
  amount: ParsedAmount,
  localNow: Temporal.ZonedDateTime,
  text: string,
): { wall?: Temporal.PlainDateTime; at?: number; notes: string[] } {
  if (parsed.date !== undefined) throw new WakefulError('phrase.twice', { text: quote(text), part: 'date' })
  if (parsed.time !== undefined && amount.elapsed) {
    throw new WakefulError('phrase.unsupported', {
      text: quote(text),
      detail: 'it gives both a time of day and hours from now. Give one',
    })
  }
  const { hours = 0, minutes = 0, seconds = 0, milliseconds = 0, ...dates } = amount.amount
  try {
    const day = localNow.add({ days: 0, ...dates })
    const notes: string[] = []
    if (!dates.days && !dates.weeks && day.day !== localNow.day) {
      notes.push(`there is no day ${localNow.day} in that month: its last, ${day.toPlainDate()}, is used`)
    }
    if (parsed.time === undefined) {
      const elapsedMs = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
      // The error of decimals is far below a microsecond; the rest is rounded up, so that nothing fires early.
      return { at: day.epochMilliseconds + Math.ceil(Number(elapsedMs.toFixed(3))), notes }
    }
    const { hour, minute, second, note } = parsed.time
    return {
      wall: day.toPlainDate().toPlainDateTime({ hour, minute, second }),
      notes: note === undefined ? notes : [...notes, note],
    }
  } catch (cause) {
    throw new WakefulError('instant.out_of_range', { text: quote(text) }, { cause })
  }
}

const ISO_LIKE = /^\d{4}-\d\d-\d\d(?:t|$)|^\d{8}t/i
const DAY_PART = /^(?:(.+) )?(morning|afternoon|evening|night)$/i
const DAY_PART_WORDS = ['this', 'in', 'the', 'morning', 'afternoon', 'evening', 'night']
const TIME_OF: Readonly<Record<string, string>> = {
  morning: '9am',
  afternoon: '3pm',
  evening: '7pm',
  night: '10pm',
}

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
    return new WakefulError('phrase.unsupported', {
      text: quote(text),
      detail: `it does not name one time of day. Say ${quote(better)}, or another`,
    })
  if (ISO_LIKE.test(text.trim())) return new WakefulError('phrase.no_such_date', { text: quote(text) })
  const named = words.slice(0, 5).map((word) => quote(word))
  return new WakefulError('phrase.not_understood', {
    text: quote(text),
    words: named,
    zone: words.some(looksLikeZone),
  })
}
