import { describeRrule } from '../../../src/time/rrule/description.ts'
import { compileRrule } from '../../../src/time/rrule/rrule.ts'
import type { Random } from '../../random.ts'
import { randomSpec, textOf } from '../rrule-random.ts'
import { Bogus } from './checks.ts'
import { assertRule, type ReadRule, readRule } from './rule.ts'
import { pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

/** A valid rule at its limits, which is the most expensive to search or count. */
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
  return [...maybe(() => `DTSTART:${random.between(1600, 9999)}0228T235959`), ...lines].join('\n')
}

/** Generates recurrences of RFC 5545. */
export const RRULE: Language = {
  valid: (random) => (random.chance(0.7) ? textOf(randomSpec(random), random) : extreme(random)),
  pieces:
    'FREQ= FREQ=DAILY DAILY WEEKLY MONTHLY YEARLY HOURLY MINUTELY SECONDLY ; ; , : = \n \r\n INTERVAL= COUNT= UNTIL= WKST= BYMONTH= BYWEEKNO= BYYEARDAY= BYMONTHDAY= BYDAY= BYHOUR= BYMINUTE= BYSECOND= BYSETPOS= DTSTART RRULE EXDATE RDATE EXRULE TZID= VALUE= DATE PERIOD Europe/Rome UTC 20260101T000000 20260101T000000Z 20260229 99991231T235959Z 16000101 MO -1FR 53SU TU,TH 0 1 -1 2 7 29 30 31 366 -366 999999999 999999999999 9e9 " /PT1H'.split(
      ' ',
    ),
}

const RECENT_MS = 10_000_000_000

/** The parser of recurrences, with everything that searches, counts and describes them. */
export const rrule: Subject<string, ReadRule & { counted: number | null; words: string }> = {
  name: 'rrule',
  make: (random) => textFrom(random, RRULE),
  read(text, context) {
    const words = describeRrule(text)
    const { now, timezone } = context
    const { wallTimes } = compileRrule(text, { timezone, anchor: now })
    return {
      ...readRule({ rrule: text }, context),
      counted: wallTimes.count?.(now, now + RECENT_MS) ?? null,
      words,
    }
  },
  check(_text, answer, context) {
    assertRule(answer, context)
    if ((answer.counted ?? 0) < 0) throw new Bogus(`it counts ${answer.counted}`)
    if (answer.words === '') throw new Bogus('it has no words')
    const odd = answer.instants.find((at) => at % 1000 !== 0)
    if (odd !== undefined) throw new Bogus(`${odd} is not on a second`)
  },
}
