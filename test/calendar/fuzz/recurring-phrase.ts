import { WakefulError } from '../../../src/error.ts'
import { parseRecurring, type RecurringPhrase } from '../../../src/time/phrases/recurring/recurring-phrase.ts'
import { compileRrule } from '../../../src/time/rrule/rrule.ts'
import { parse } from '../../../src/time/when/when.ts'
import type { Random } from '../../random.ts'
import { Bogus } from './checks.ts'
import { assertRule, readRule } from './rule.ts'
import { type FuzzContext, pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

const WORDS =
  'every each other daily hourly weekly monthly yearly nightly weekday weekdays weekend weekends monday tue wednesday mondays fridays mon-fri first second third fifth last 1st 2nd 15th 31st 32nd day days week weeks month months year hour hours minute minutes second seconds ms of the in on at and & to through from between until till starting ending for times 10 2 3 15 9 17 5 0 24 45 9am 5pm 9:30 17:00 25:00 13pm noon midnight morning evening night december feb june 24 29 30 2026-12-01 2027-01-01t10:00 2025-01-01 12/24 03/04 today tomorrow now next except excluding us-holidays quarter workday once twice a an half quarter working business a.m. p.m. utc europe/rome EST , . ! @ :15 :60 - -- 1h30m 1.5 1e9 999999999 \u0130 \u2028 9-17'.split(
    ' ',
  )
const FORMS = [
  'every weekday at 9am',
  'every 15 minutes between 9 and 17 on weekdays',
  'every other tuesday at 9am',
  'first monday of each month at 10:00',
  'every year on december 24 at 18:00 until 2030-01-01',
  'every 2 weeks on monday and friday at 9am and 5pm, 10 times',
  'weekdays at noon except friday',
  'every 3 months on the 31st at 8:15',
  'the last friday of the month at 5pm starting 2027-01-01',
  'twice a day',
  'every 90 minutes',
  'every working day at 9am except us-holidays and company until 2030-01-01',
  'last working day of the month at 17:00',
]

const PACES: readonly (readonly [pace: string, days: readonly string[]])[] = [
  ['every day', ['', ' except sunday', ' in december']],
  ['every weekday', ['']],
  ['every # days', ['']],
  ['every week', ['', ' on monday', ' on mon, wed and fri']],
  ['every # weeks', [' on tuesday', ' on weekdays']],
  ['every month', ['', ' on the 31st', ' on the last day', ' on the first monday']],
  ['every # months', ['', ' on the 29th', ' on the last friday']],
  ['every year', ['', ' on february 29', ' on december 24']],
]
const TIMES = ['', ' at 9am', ' at 02:30', ' at 8:15 and 17:45', ' at noon']
const BOUNDS = [
  '',
  '',
  ' until 2030-01-01',
  ' starting tomorrow',
  ', 10 times',
  ' starting 2027-02-28',
  ' starting 2028-02-29',
]

/** The frequency, days, times and bounds of a phrase. */
function composed(random: Random): string {
  const number = () => String(random.between(2, 12))
  if (random.chance(0.25)) {
    const unit = pick(random, ['minutes', 'hours', 'seconds'])
    return `every ${number()} ${unit}${pick(random, ['', ' between 9 and 17', ' on weekdays'])}${pick(random, BOUNDS)}`
  }
  const [pace, days] = pick(random, PACES)
  return pace.replace('#', number) + pick(random, days) + pick(random, TIMES) + pick(random, BOUNDS)
}

/** Generates recurring phrases. */
export const RECURRING: Language = {
  valid(random) {
    if (random.chance(0.5)) return composed(random)
    const words = (most: number) => Array.from({ length: random.between(0, most) }, () => pick(random, WORDS))
    if (random.chance(0.4)) return ['every', ...words(8)].join(' ')
    const form = pick(random, FORMS).split(' ')
    form.splice(random.between(0, form.length), random.between(0, 2), ...words(2))
    return form.join(random.chance(0.9) ? ' ' : pick(random, ['', '  ', ' and ', ', ']))
  },
  pieces: WORDS,
}

/** The parser of recurring phrases; others are parsed as phrases for one instant. */
export const recurringPhrase: Subject<string, RecurringPhrase | null> = {
  name: 'recurring phrase',
  make: (random) => textFrom(random, RECURRING),
  read(text, context) {
    const phrase = parseRecurring(text, context)
    if (phrase === null) parse(text, context)
    return phrase
  },
  check(_text, phrase, context) {
    if (phrase === null) return
    assertWording(phrase, context)
    if ('rrule' in phrase) assertStartMatches(phrase.rrule, context)
    assertFires(phrase, context)
  },
}

/** Checks that the canonical form gives the same rule. */
function assertWording(phrase: RecurringPhrase, context: FuzzContext): void {
  const ruleText = ({ notes: _notes, ...rest }: RecurringPhrase) => JSON.stringify(rest)
  let again: string
  try {
    again = ruleText(parseRecurring(phrase.canonical, context)!)
  } catch (cause) {
    throw new Bogus(`it is read as '${phrase.canonical}', which is not understood`, { cause })
  }
  if (again !== ruleText(phrase))
    throw new Bogus(`it reads as ${ruleText(phrase)}, and its wording as ${again}`)
}

/** Checks that the rule fires, unless the bounds of the phrase leave nothing. */
function assertFires(phrase: RecurringPhrase, context: FuzzContext): void {
  const { canonical: _wording, notes: _notes, ...when } = phrase
  try {
    assertRule(readRule(when, context), context)
  } catch (thrown) {
    const bounded = /before the start|years 1970 to 9999|never fires/
    if (thrown instanceof WakefulError && bounded.test(thrown.message)) return
    throw new Bogus(`it gives ${JSON.stringify(when)}, which does not fire`, { cause: thrown })
  }
}

/** Checks that DTSTART is the first occurrence; otherwise weeks and months would be counted from another day. */
function assertStartMatches(rrule: string, { now, timezone }: FuzzContext): void {
  const start = /^DTSTART;TZID=[^:]+:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(rrule)!.slice(1).map(Number)
  const [year, month, day, hour, minute, second] = start as [number, number, number, number, number, number]
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  const first = compileRrule(rrule, { timezone, anchor: now }).wallTimes.next(Number.MIN_SAFE_INTEGER)
  if (first !== wall)
    throw new Bogus(`it gives ${JSON.stringify(rrule)}, whose first is ${first}, not ${wall}`)
}
