import { Bogus, isDate } from './checks.ts'
import { DURATION } from './duration.ts'
import { assertRule, type ReadRule, readRule } from './rule.ts'
import { type FuzzContext, pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

/** Steps of an `every`: months and years on the calendar, or durations. */
export const STEP: Language = {
  valid(random) {
    if (random.chance(0.3)) return DURATION.valid(random)
    const [years, months] = [random.between(0, 9), random.between(0, random.chance(0.9) ? 30 : 99_999)]
    return random.weighted<() => string>([
      [3, () => `${months} ${pick(random, ['month', 'months', 'mo'])}`],
      [2, () => `${years}${pick(random, ['y', ' years', ' yr'])}`],
      [2, () => `${years} years${pick(random, [' ', ', ', ' and ', ' ,'])}${months} months`],
      [2, () => `P${years}Y${months}M`],
      [1, () => `p${months}m`],
    ])()
  },
  pieces: [
    ...DURATION.pieces,
    ...'year years yr y month months mo mos P1Y P1M P1Y2M 8030 999999 1000000 and'.split(' '),
  ],
}

interface Stepped {
  text: string
  /** A start is the first instant; without one, the first step is after now. */
  start: string | null
}

/** The calendar and the fixed step of an `every`. */
export const every: Subject<Stepped, ReadRule> = {
  name: 'every',
  make(random, { now }) {
    const at = Math.min(Math.max(0, now + random.between(-1e10, 1e11)), 253_402_300_799_999)
    return { text: textFrom(random, STEP), start: random.chance(0.3) ? new Date(at).toISOString() : null }
  },
  read: ({ text, start }, context) => readRule({ every: text, ...(start !== null && { start }) }, context),
  check(_input, answer, context) {
    assertRule(answer, context)
    if (answer.rule.timezone === 'UTC') assertMonths(answer, context)
  },
}

/** Months counted directly, in UTC: the anchor's day, or the last of a month without that day. */
function assertMonths({ rule, instants }: ReadRule, context: FuzzContext): void {
  if (rule.kind !== 'every' || !('everyMonths' in rule)) return
  const anchor = new Date(rule.anchor)
  for (const at of instants) {
    const date = new Date(at)
    const months =
      (date.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + date.getUTCMonth() - anchor.getUTCMonth()
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
    const wanted = anchor.getUTCDate()
    const sameDay = day === wanted || (day < wanted && !isDate(year, month, day + 1))
    const sameTime = (at - rule.anchor) % 1000 === 0 && at % 86_400_000 === rule.anchor % 86_400_000
    if (months % rule.everyMonths === 0 && sameDay && sameTime) continue
    throw new Bogus(
      `${date.toISOString()} is no step of ${rule.everyMonths} months from ${anchor.toISOString()} (${context.now})`,
    )
  }
}
