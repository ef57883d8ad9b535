import { WakefulError } from '../../error.ts'
import { NUMBERS, UNIT_MS, UNITS, type Unit } from '../text/index.ts'

/** An amount of time in a phrase. Days and longer units follow the calendar, hours and shorter ones are elapsed time. */
export type Amount = Partial<Record<Unit, number>>

const DECIMAL = /^\d{1,15}(?:\.\d{1,3})?$/
const COMPACT = /^(\d{1,15}(?:\.\d{1,3})?)([a-z]+)/

/** Parses '30 minutes', 'an hour', 'half an hour', '1h30m', '2 days and 3 hours' at the start of these words. */
export function readAmount(words: string[]): { amount: Amount; used: number } | null {
  if (words.slice(0, 3).join(' ') === 'half an hour') return { amount: { minutes: 30 }, used: 3 }
  const amount: Amount = {}
  let used = 0
  for (;;) {
    const and = used > 0 && words[used] === 'and' ? 1 : 0
    const [first = '', second = ''] = words.slice(used + and)
    const pair = readPair(first, second)
    const parts = pair === null ? readCompact(first) : [pair]
    if (parts.length === 0) return used === 0 ? null : { amount, used }
    for (const [count, unit] of parts) add(amount, count, unit)
    used += and + (pair === null ? 1 : 2)
  }
}

/** The elapsed time of an amount, in milliseconds. The error of decimals is far below the microsecond it is rounded to. */
export function elapsedMs(amount: Amount): number {
  const parts = Object.entries(amount) as [Unit, number][]
  return Number(parts.reduce((total, [unit, count]) => total + count * (UNIT_MS[unit] ?? 0), 0).toFixed(3))
}

function readPair(number: string, word: string): [number, Unit] | null {
  const unit = UNITS.get(word)
  const count = NUMBERS.get(number) ?? (DECIMAL.test(number) ? Number(number) : undefined)
  return unit === undefined || count === undefined ? null : [count, unit]
}

function readCompact(word: string): [number, Unit][] {
  const parts: [number, Unit][] = []
  for (let rest = word; rest !== ''; ) {
    const match = COMPACT.exec(rest)
    const unit = UNITS.get(match?.[2] ?? '')
    if (match === null || unit === undefined) return []
    parts.push([Number(match[1]), unit])
    rest = rest.slice(match[0].length)
  }
  return parts
}

function add(amount: Amount, count: number, unit: Unit): void {
  if (amount[unit] !== undefined) throw new WakefulError('phrase.unit_twice', { unit })
  if (!Number.isInteger(count) && UNIT_MS[unit] === undefined) {
    throw new WakefulError('phrase.fraction', { count, unit })
  }
  amount[unit] = count
}
