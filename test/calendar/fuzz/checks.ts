import { WakefulError } from '../../../src/error.ts'
import { INSTANT_MAX, INSTANT_MIN } from '../../../src/time/index.ts'
import { TrapError } from './junk.ts'

/** Thrown for a result that cannot be right. */
export class Bogus extends Error {
  override readonly name = 'Bogus'
}

const MESSAGE_LENGTH_MAX = 700
/** Words that an error message must not have in place of a value. */
const CARELESS = ['undefined', 'NaN', '[object', 'Infinity']
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether this day exists, computed independently. */
export function isDate(year: number, month: number, day: number): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0)
  return day >= 1 && day <= days
}

/** Checks that an instant is in the range that Wakeful accepts. */
export function assertInstant(at: unknown): asserts at is number {
  if (Number.isInteger(at) && (at as number) >= INSTANT_MIN && (at as number) <= INSTANT_MAX) return
  throw new Bogus(`${String(at)} is no instant`)
}

/** Checks that instants are sorted and after this one. */
export function assertInstants(instants: readonly number[], after: number): void {
  let before = after
  for (const at of instants) {
    assertInstant(at)
    if (at <= before) throw new Bogus(`${at} comes after ${before}`)
    before = at
  }
}

/** Checks that a refusal is a WakefulError with a readable message. */
export function assertRefusal(thrown: unknown, input: unknown): void {
  if (thrown instanceof TrapError) return
  if (!(thrown instanceof WakefulError)) throw new Bogus(`crashed: ${String(thrown)}`, { cause: thrown })
  const { code, message } = thrown
  if (!/^[a-z_]+$/.test(code)) throw new Bogus(`the refusal has the code '${code}'`)
  if (message === '' || message.length > MESSAGE_LENGTH_MAX)
    throw new Bogus(`the refusal has ${message.length} characters`)
  for (const word of CARELESS) {
    if (message.includes(word) && !contains(input, word))
      throw new Bogus(`the refusal says ${word}: ${message}`)
  }
}

/** Whether the input itself contains this word, so that a message may. */
function contains(value: unknown, word: string, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return String(value).includes(word)
  if (value instanceof Date || depth > 3) return false
  return Object.entries(Object.getOwnPropertyDescriptors(value)).some(
    ([name, field]) => name.includes(word) || 'get' in field || contains(field.value, word, depth + 1),
  )
}
