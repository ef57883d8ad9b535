import { WakefulError } from '../../error.ts'
import { NUMBERS, UNITS, type Unit } from '../text/index.ts'

/** An amount of time in a phrase. Days and longer units follow the calendar, hours and shorter ones are elapsed time. */
export interface ParsedAmount {
  amount: Partial<Record<Unit, number>>
  calendar: boolean
  elapsed: boolean
  used: number
}

const CALENDAR = new Set<Unit>(['days', 'weeks', 'months', 'years'])
const COMPACT = /^(\d{1,15}(?:\.\d{1,3})?)([a-z]+)/

/** Parses '30 minutes', 'an hour', 'half an hour', '1h30m', '2 days and 3 hours' at the start of these words. */
export function readAmount(words: string[]): ParsedAmount | null {
  const parsed: ParsedAmount = { amount: {}, calendar: false, elapsed: false, used: 0 }
  if (words[0] === 'half' && words[1] === 'an' && words[2] === 'hour') {
    return { amount: { minutes: 30 }, calendar: false, elapsed: true, used: 3 }
  }
  for (;;) {
    const and = parsed.used > 0 && words[parsed.used] === 'and' ? 1 : 0
    const pair = readPair(words.slice(parsed.used + and)) ?? readCompact(words[parsed.used + and])
    if (pair === null) break
    for (const [count, unit] of pair.parts) add(parsed, count, unit)
    parsed.used += and + pair.words
  }
  return parsed.used === 0 ? null : parsed
}

interface AmountMatch {
  parts: [number, Unit][]
  words: number
}

function readPair([number, unit]: string[]): AmountMatch | null {
  const name = UNITS.get(unit ?? '')
  const count =
    NUMBERS.get(number ?? '') ?? (/^\d{1,15}(?:\.\d{1,3})?$/.test(number ?? '') ? Number(number) : undefined)
  return name === undefined || count === undefined ? null : { parts: [[count, name]], words: 2 }
}

function readCompact(word: string | undefined): AmountMatch | null {
  const parts: [number, Unit][] = []
  let rest = word ?? ''
  while (rest !== '') {
    const match = COMPACT.exec(rest)
    const unit = UNITS.get(match?.[2] ?? '')
    if (match === null || unit === undefined) return null
    parts.push([Number(match[1]), unit])
    rest = rest.slice(match[0].length)
  }
  return parts.length === 0 ? null : { parts, words: 1 }
}

function add(parsed: ParsedAmount, count: number, unit: Unit): void {
  if (parsed.amount[unit] !== undefined) {
    throw new WakefulError('phrase.unsupported', {
      text: null,
      detail: `${unit} are there twice. Use each unit once`,
    })
  }
  parsed.calendar ||= CALENDAR.has(unit)
  parsed.elapsed ||= !CALENDAR.has(unit)
  if (!Number.isInteger(count) && CALENDAR.has(unit)) {
    throw new WakefulError('phrase.unsupported', {
      text: null,
      detail: `${count} ${unit} is not a whole number. Use smaller units`,
    })
  }
  parsed.amount[unit] = count
}
