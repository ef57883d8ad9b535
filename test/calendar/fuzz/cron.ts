import type { Random } from '../../random.ts'
import { Bogus } from './checks.ts'
import { assertRule, type ReadRule, readRule } from './rule.ts'
import { pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

const MONTHS = ['jan', 'FEB', 'Mar', 'dec']
const WEEKDAYS = ['sun', 'MON', 'Fri', 'sat']
const NICKNAMES = ['@yearly', '@monthly', '@weekly', '@DAILY', '@midnight', '@hourly', '@annually']

/** A list of numbers, ranges and steps. */
function field(random: Random, low: number, high: number, special: readonly string[]): string {
  const number = () => random.between(low, high)
  const item = () =>
    random.weighted<() => string>([
      [5, () => '*'],
      [4, () => `${number()}`],
      [2, () => `*/${random.between(1, high)}`],
      [2, () => `${low + Math.floor((high - low) / 3)}-${high}`],
      [1, () => `${low}-${number()}/${random.between(1, high)}`],
      [special.length > 0 ? 2 : 0, () => pick(random, special)],
    ])()
  return Array.from({ length: random.chance(0.8) ? 1 : random.between(2, 5) }, item).join()
}

/** Cron expressions. */
export const CRON: Language = {
  valid(random) {
    if (random.chance(0.06)) return pick(random, NICKNAMES)
    if (random.chance(0.06)) return `@every ${random.between(1, 100)}${pick(random, ['s', 'm', 'h', 'd'])}`
    const zone = random.chance(0.08) ? `${pick(random, ['CRON_TZ=', 'TZ='])}Europe/Rome ` : ''
    const fields = [
      ...(random.chance(0.25) ? [field(random, 0, 59, [])] : []),
      field(random, 0, 59, []),
      field(random, 0, 23, []),
      field(random, 1, 31, ['L', 'LW', '15W', '1W', '31W', '?']),
      field(random, 1, 12, MONTHS),
      field(random, 0, 7, [...WEEKDAYS, '5#2', '1#5', '5L', 'L', '?', 'mon-fri']),
    ]
    return zone + fields.join(' ')
  },
  pieces:
    '* */5 */0 0 1 5 31 59 60 99999999999 -1 1-5 5-1 1-31/2 , / - # L W LW ? + mon FRI jan 5#2 5#6 5L 15W @daily @every 5m CRON_TZ= TZ=UTC CRON_TZ=Mars/Base 1,2,3'.split(
      ' ',
    ),
}

/** The parser of cron expressions, and the search for their days, which may be years apart. */
export const cron: Subject<string, ReadRule> = {
  name: 'cron',
  make: (random) => textFrom(random, CRON),
  read: (text, context) => readRule({ cron: text }, context),
  check(text, answer, context) {
    assertRule(answer, context)
    if (text.includes('@every')) return
    const odd = answer.instants.find((at) => at % 1000 !== 0)
    if (odd !== undefined) throw new Bogus(`${odd} is not on a second`)
  },
}
