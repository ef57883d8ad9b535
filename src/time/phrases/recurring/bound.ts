import type { Temporal } from 'temporal-polyfill'
import { wholeNumber } from '../../text/index.ts'
import { parseIso, zoned } from '../../zones/index.ts'
import { readAmount } from '../amount.ts'
import { dayOf, readDate } from '../date.ts'
import type { PhraseInput } from '../phrase-input.ts'
import { isClock, type ParsedTime } from '../time-of-day.ts'
import type { Clause, ParsedBound } from './parsed.ts'
import { timesOf } from './times.ts'

const STARTS = new Set(['starting', 'beginning', 'from'])
const ENDS = new Set(['until', 'till', 'through', 'ending'])
const DAY_START: ParsedTime = { hour: 0, minute: 0, second: 0 }
const DAY_END: ParsedTime = { hour: 23, minute: 59, second: 59 }

/** Parses 'starting 2026-12-01', 'until december 24 at 18:00', 'for 10 times', '10 times'. */
export function readBound(words: string[], phrase: PhraseInput): Clause | null {
  const [first = '', second = '', third = ''] = words
  if (first === 'starting' && second === 'now') return { parts: {}, used: 2 }
  if (first === 'from' && second === 'now' && third === 'on') return { parts: {}, used: 3 }
  if (!STARTS.has(first) && !ENDS.has(first)) return readCount(words, phrase)
  const read = readBoundTime(words.slice(1), phrase)
  if (read === null) return null
  const { bound, used } = read
  return { parts: STARTS.has(first) ? { start: bound } : { end: bound }, used: used + 1 }
}

function readBoundTime(words: string[], phrase: PhraseInput): { bound: ParsedBound; used: number } | null {
  const isTime = words[0] === 'at'
  const lead = isTime || words[0] === 'on' || words[0] === 'from' ? 1 : 0
  const rest = words.slice(lead)
  const [first = ''] = rest
  if (parseIso(first) !== null) return { bound: { word: first, iso: first.toUpperCase() }, used: lead + 1 }
  const read = isTime || rest.length === 0 ? null : readDate(rest, phrase.localNow.toPlainDate())
  const dated = read?.used ?? 0
  const at = rest[dated] === 'at' && read !== null ? 1 : 0
  const clock = rest[dated + at]
  const afterAt = isTime || at === 1
  const timed = isClock(clock, afterAt)
  if (read === null && !timed) return null
  const used = timed ? dated + at + 1 : dated
  const bound: ParsedBound = {
    word: rest.slice(0, used).join(' '),
    ...(read !== null && { date: read.date }),
    ...(timed && { clock: { word: clock!, afterAt } }),
  }
  return { bound, used: lead + used }
}

function readCount(words: string[], phrase: PhraseInput): Clause | null {
  const lead = words[0] === 'for' ? 1 : 0
  const [number = '', noun] = words.slice(lead)
  if (noun === 'times' || noun === 'occurrences') {
    const times = wholeNumber(number)
    if (times === null) return null
    if (times < 1) throw phrase.refusal('phrase.zero_times', { count: number })
    return { parts: { count: { times, hasFor: lead === 1 } }, used: lead + 2 }
  }
  const amount = lead === 1 ? readAmount(words.slice(1)) : null
  if (amount === null) return null
  throw phrase.refusal('phrase.no_start', { word: words.slice(0, amount.used + 1).join(' ') })
}

/** A start or an end as a wall time of the zone; undefined if it adds nothing, as in 'starting today'. */
export function boundOf(bound: ParsedBound, edge: 'start' | 'end', phrase: PhraseInput): string | undefined {
  const { word, iso, date, clock } = bound
  if (iso !== undefined) return isoBound(iso, phrase.localNow.timeZoneId)
  const time = clock === undefined ? undefined : timesOf([clock], undefined, phrase)[0]!
  if (time === undefined && edge === 'start' && date?.kind === 'day' && date.today) return undefined
  // Today is a valid start or end at any hour: only an explicit time can have passed.
  const day = dayOf(date, time ?? DAY_END, phrase)
  if (date?.weekday !== undefined && day.dayOfWeek !== date.weekday) {
    throw phrase.refusal('phrase.wrong_weekday', { date: `${day}` })
  }
  if (!word.startsWith(day.toString())) phrase.notes.push(`the ${edge} is read as ${day}`)
  if (edge === 'start') return wallText(day, time ?? DAY_START)
  if (time !== undefined) return wallText(day, time)
  phrase.notes.push(`${day} is included, to the end of the day`)
  return `${wallText(day, DAY_END)}.999`
}

function wallText(day: Temporal.PlainDate, time: ParsedTime): string {
  return day.toPlainDateTime(time).toString({ smallestUnit: 'second' })
}

/** An ISO time in this zone, with the offset if the phrase has one. */
function isoBound(text: string, timezone: string): string {
  const { wallTimeMs, offsetMs } = parseIso(text)!
  const at = offsetMs === undefined ? zoned('UTC', wallTimeMs) : zoned(timezone, wallTimeMs - offsetMs)
  return at.toString({
    timeZoneName: 'never',
    smallestUnit: at.millisecond === 0 ? 'second' : 'millisecond',
    offset: offsetMs === undefined ? 'never' : 'auto',
  })
}
