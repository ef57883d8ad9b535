import { WakefulError } from '../../src/error.ts'
import { compileRrule } from '../../src/time/rrule.ts'
import { describeRrule } from '../../src/time/rrule-words.ts'
import type { Random } from '../chaos/random.ts'
import { randomSpec, textOf } from './rrule-random.ts'

const PIECES =
  'FREQ= DAILY WEEKLY MONTHLY YEARLY HOURLY MINUTELY SECONDLY ; ; , : = \n \r\n  INTERVAL= COUNT= UNTIL= WKST= BYMONTH= BYWEEKNO= BYYEARDAY= BYMONTHDAY= BYDAY= BYHOUR= BYMINUTE= BYSECOND= BYSETPOS= DTSTART RRULE EXDATE RDATE EXRULE TZID= VALUE= DATE PERIOD Europe/Rome UTC 20260101T000000 20260101T000000Z 20260229 99991231T235959Z 16000101 MO -1FR 53SU TU,TH 0 1 -1 2 7 29 30 31 366 -366 999999999 999999999999 9e9 " /PT1H __proto__ constructor é 🕰'.split(
    ' ',
  )
const ZONES = ['UTC', 'Europe/Rome', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Monrovia']
const LETTERS = 'FREQDAILY=;,:+-0123456789TZBYMONTH \n\r\t"/\u0000é'

/** A text that may be a recurrence: a sound one, one that was damaged, pieces in any order, or noise. */
export function randomText(random: Random): string {
  const sound = () => textOf(randomSpec(random), random)
  const pieces = () => Array.from({ length: random.between(0, 25) }, () => pick(random, PIECES)).join('')
  const noise = () => Array.from({ length: random.between(0, 60) }, () => pick(random, [...LETTERS])).join('')
  return random.weighted<() => string>([
    [2, sound],
    [5, () => damaged(random, sound())],
    [3, () => extreme(random)],
    [2, () => `FREQ=${pick(random, PIECES)};${pieces()}`],
    [2, pieces],
    [1, noise],
  ])()
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.between(0, items.length - 1)]!
}

function damaged(random: Random, text: string): string {
  let result = text
  for (let times = random.between(1, 3); times > 0; times--) {
    const at = random.between(0, result.length)
    const cut = random.chance(0.5) ? random.between(0, 4) : 0
    const put = random.chance(0.7) ? pick(random, random.chance(0.5) ? PIECES : [...LETTERS]) : ''
    result = result.slice(0, at) + put + result.slice(at + cut)
  }
  return result
}

/** A sound rule at its limits: what takes the most to search or to count. */
function extreme(random: Random): string {
  const all = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(() => random.chance(0.9))
  const freq = pick(random, ['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'])
  const interval = random.weighted([
    [2, 1],
    [2, random.between(2, 100)],
    [1, random.between(100, 90_000)],
    [1, random.between(1, 999_999_999)],
  ])
  const maybe = (part: () => string) => (random.chance(0.35) ? [part()] : [])
  const rule = [
    `FREQ=${freq};INTERVAL=${interval}`,
    ...maybe(() => `BYMONTH=${all(1, 12).join() || 2}`),
    ...(freq === 'WEEKLY'
      ? []
      : maybe(() => `BYMONTHDAY=${pick(random, ['30', '31', '-31', '29,30', '13'])}`)),
    ...maybe(() => `BYDAY=${pick(random, ['MO', 'MO,TU,WE,TH,FR', 'SU,MO,TU,WE,TH,FR'])}`),
    ...maybe(() => `BYHOUR=${all(0, 23).join() || 0}`),
    ...maybe(() => `BYMINUTE=${all(0, 59).join() || 0}`),
    ...maybe(() => `BYSECOND=${all(0, 59).join() || 0}`),
    ...maybe(() => `BYHOUR=1;BYSETPOS=${all(1, 366).join() || 1}`),
    ...maybe(() => `COUNT=${pick(random, [1, 1000, 1_000_000, 999_999_999_999])}`),
  ].join(';')
  const lines = Array.from({ length: random.chance(0.1) ? 4 : 1 }, () => `RRULE:${rule}`)
  return [
    ...maybe(() => `DTSTART:${random.between(1600, 9999)}0229T235959`.replace('0229', '0228')),
    ...lines,
  ].join('\n')
}

/** What one text did: how long it took, and whether it was understood. */
export interface Fuzzed {
  ms: number
  understood: boolean
}

/** Gives one text to everything that reads recurrences; throws whatever is thrown that is no WakefulError. */
export function fuzzOne(text: string, random: Random): Fuzzed {
  const anchor = random.between(0, 4_000_000) * 1_000_000 + 123
  const context = { timezone: pick(random, ZONES), anchor }
  const started = performance.now()
  try {
    const { nextWall, instants, countWalls } = compileRrule(text, context)
    const next = instants === null ? nextWall : instants.next
    let at = anchor
    for (let step = 0; step < 5; step++) {
      const found = next(at)
      if (found === null) break
      if (!(Number.isInteger(found) && found > at && found % 1000 === 0)) {
        throw new Error(`${found} after ${at}: ${text}`)
      }
      at = found
    }
    if ((countWalls?.(anchor, anchor + 1e10) ?? 0) < 0) throw new Error(`a negative count: ${text}`)
    if (describeRrule(text) === '') throw new Error(`no words: ${text}`)
    return { ms: performance.now() - started, understood: true }
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    if (thrown.message.length > 600) throw new Error(`a message of ${thrown.message.length}: ${text}`)
    return { ms: performance.now() - started, understood: false }
  }
}
