/** The longest text that is parsed. Longer ones are refused before any pattern runs on them. */
export const TEXT_LENGTH_MAX = 1000

/** A value as error messages quote it: bounded in length, and safe for any input. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return bounded(`'${value}'`)
  if (typeof value === 'object' && value !== null) return isoOf(value) ?? 'an object'
  return typeof value === 'function' ? 'a function' : bounded(String(value))
}

/** A valid Date as text. Calls the prototype, since any object can have a `toISOString` of its own. */
function isoOf(value: object): string | null {
  try {
    return Date.prototype.toISOString.call(value)
  } catch {
    return null
  }
}

function bounded(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** Weekday names, Monday first. */
export const WEEKDAY_NAMES: readonly string[] =
  'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

/** Month names, January first. */
export const MONTH_NAMES: readonly string[] =
  'January February March April May June July August September October November December'.split(' ')

/** The names of positions in a month. */
export const ORDINAL_NAMES: readonly string[] = 'first second third fourth fifth'.split(' ')

/** 'first' to 'fifth', or 'last' for -1. */
export function ordinalName(nth: number): string {
  return nth === -1 ? 'last' : ORDINAL_NAMES[nth - 1]!
}

/** A list as it stands in a sentence: 'a, b and c'. */
export function joinWithAnd(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

/** A count with its noun: '1 day', '3 days'. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A number with at least two digits, as clocks show it. */
export function pad2(number: number): string {
  return String(number).padStart(2, '0')
}

/** The longest name of a day off that is stored. */
export const LABEL_LENGTH_MAX = 200

/** The label on a single line, cut to its maximum length, without characters that a database rejects. */
export function normalizeLabel(label: string): string {
  // Cut first, so that a huge label costs no more than a long one.
  const line = label
    .slice(0, 4 * LABEL_LENGTH_MAX)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > LABEL_LENGTH_MAX ? `${line.slice(0, LABEL_LENGTH_MAX - 1).toWellFormed()}…` : line
}
