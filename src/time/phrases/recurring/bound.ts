import { NUMBERS } from '../../text/index.ts'
import { parseIso, temporal, zoned } from '../../zones/index.ts'
import { readDate } from '../date.ts'
import { dayOf } from '../day.ts'
import { readAmount } from '../relative.ts'
import type { ParsedTime } from '../time-of-day.ts'
import { type Clause, type ParsedBound, type PhraseInput, refusal } from './parsed.ts'
import { isClock, timesOf } from './times.ts'

const STARTS = new Set(['starting', 'beginning', 'from'])
const ENDS = new Set(['until', 'till', 'through', 'ending'])
const DAY_START: ParsedTime = { hour: 0, minute: 0, second: 0 }
const DAY_END: ParsedTime = { hour: 23, minute: 59, second: 59 }

/** Parses 'starting 2026-12-01', 'until december 24 at 18:00', 'for 10 times', '10 times'. */
export function readBound(words: string[], phrase: PhraseInput): Clause | null {
  const [first = '', second = '', third = ''] = words
  if (
    ['starting now', 'from now on'].includes(
      first === 'from' ? `from ${second} ${third}` : `${first} ${second}`,
    )
  ) {
    return { parts: {}, used: first === 'from' ? 3 : 2 }
  }
  if (STARTS.has(first) || ENDS.has(first)) {
    const bound = readBoundTime(words.slice(1), phrase)
    if (bound === null) return null
    const parsed = STARTS.has(first) ? { start: bound.parts } : { end: bound.parts }
    return { parts: parsed, used: bound.used + 1 }
  }
  return readCount(words, phrase)
}

function readBoundTime(words: string[], phrase: PhraseInput): { parts: ParsedBound; used: number } | null {
  const lead = words[0] === 'on' || words[0] === 'from' || words[0] === 'at' ? 1 : 0
  const rest = words.slice(lead)
  const [first = ''] = rest
  const iso = parseIso(first)
  if (iso !== null) return { parts: { word: first, iso: first.toUpperCase() }, used: lead + 1 }
  const date = words[0] === 'at' || rest.length === 0 ? null : readDate(rest, phrase.localNow.toPlainDate())
  const used = lead + (date?.used ?? 0)
  const at = words[used] === 'at' && date !== null ? 1 : 0
  const clock = words[used + at]
  const timed = isClock(clock, at === 1 || words[0] === 'at')
  if (date === null && !timed) return null
  const parsed: ParsedBound = { word: words.slice(lead, used + (timed ? at + 1 : 0)).join(' ') }
  if (date !== null) parsed.date = date.date
  if (timed) parsed.clock = { word: clock!, afterAt: at === 1 || words[0] === 'at' }
  return { parts: parsed, used: used + (timed ? at + 1 : 0) }
}

function readCount(words: string[], phrase: PhraseInput): Clause | null {
  const hasFor = words[0] === 'for' ? 1 : 0
  const [number = '', times] = words.slice(hasFor)
  if (times === 'times' || times === 'occurrences') {
    const count = NUMBERS.get(number) ?? (/^\d{1,9}$/.test(number) ? Number(number) : null)
    if (count === null) return null
    if (count < 1) throw refusal(phrase, `'${number} times' is never. Use a number of at least 1`)
    return { parts: { count: { times: count, hasFor: hasFor === 1 } }, used: hasFor + 2 }
  }
  const amount = hasFor === 1 ? readAmount(words.slice(1)) : null
  if (amount === null) return null
  const clause = words.slice(0, amount.used + 1).join(' ')
  throw refusal(
    phrase,
    `'${clause}' does not name its start. Use '10 times', or the last day: 'until 2027-01-31'`,
  )
}

/** A start or an end as a wall time of the zone; null if it adds nothing, as in 'starting today'. */
export function boundOf(bound: ParsedBound, edge: 'start' | 'end', phrase: PhraseInput): string | null {
  if (bound.iso !== undefined) return isoBound(bound.iso, phrase.localNow.timeZoneId)
  const explicit = bound.clock === undefined ? undefined : timesOf([bound.clock], undefined, phrase)[0]!
  if (explicit === undefined && edge === 'start' && bound.date?.kind === 'day' && bound.date.today)
    return null
  const time = explicit ?? (edge === 'start' ? DAY_START : DAY_END)
  // Today is a valid start or end at any hour: only an explicit time can have passed.
  const clock = temporal.PlainTime.from(explicit === undefined ? DAY_END : plain(explicit))
  const day = dayOf(bound.date, explicit ?? DAY_END, clock, phrase.localNow, phrase.notes)
  if (bound.date?.weekday !== undefined && day.dayOfWeek !== bound.date.weekday) {
    throw refusal(phrase, `${day} is not on that weekday`)
  }
  if (!bound.word.startsWith(day.toString())) phrase.notes.push(`the ${edge} is read as ${day}`)
  if (edge === 'end' && explicit === undefined) phrase.notes.push(`${day} is included, to the end of the day`)
  const wall = day.toPlainDateTime(plain(time)).toString({ smallestUnit: 'second' })
  return explicit === undefined && edge === 'end' ? `${wall}.999` : wall
}

/** An ISO time in this zone, with the offset if the phrase has one. */
function isoBound(text: string, timezone: string): string {
  const { wallTimeMs, offsetMs } = parseIso(text)!
  const zone = offsetMs === undefined ? 'UTC' : timezone
  const at = zoned(zone, wallTimeMs - (offsetMs ?? 0))
  const smallestUnit = at.millisecond === 0 ? 'second' : 'millisecond'
  return at.toString({
    timeZoneName: 'never',
    smallestUnit,
    offset: offsetMs === undefined ? 'never' : 'auto',
  })
}

function plain({ hour, minute, second }: ParsedTime): { hour: number; minute: number; second: number } {
  return { hour, minute, second }
}
