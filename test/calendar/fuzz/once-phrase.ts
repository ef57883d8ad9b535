import { type Parsed, parse } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'
import { assertInstant, Bogus, isDate } from './checks.ts'
import { assertIso, ISO, isIso, randomDay } from './instant.ts'
import { localOf } from './local.ts'
import { type FuzzContext, pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)
const WEEKDAYS = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ')
const UNITS = 'second minutes hour hours days week weeks month months years'.split(' ')

function date(random: Random): string {
  const [year, month, day] = randomDay(random)
  const name = MONTHS[Number(month) - 1] ?? 'may'
  const number = Number(day)
  return random.weighted<() => string>([
    [
      3,
      () =>
        pick(random, ['today', 'tonight', 'tomorrow', 'the day after tomorrow', 'next week', 'next month']),
    ],
    [3, () => `${pick(random, ['', 'next ', 'this ', 'on '])}${pick(random, WEEKDAYS)}`],
    [2, () => `${name} ${number}${random.chance(0.4) ? ` ${year}` : ''}`],
    [2, () => `${number} ${pick(random, ['', 'of '])}${name}${random.chance(0.4) ? `, ${year}` : ''}`],
    [2, () => `${year}-${month}-${day}`],
    [1, () => `${Number(month)}/${number}${random.chance(0.6) ? `/${year}` : ''}`],
    [1, () => `${number}.${Number(month)}.${year}`],
    [1, () => `on the ${number}th`],
  ])()
}

function time(random: Random): string {
  const [hour, minute] = [
    random.between(0, random.chance(0.3) ? 3 : 24),
    String(random.between(0, 60)).padStart(2, '0'),
  ]
  return pick(random, [
    'noon',
    'midnight',
    `${hour}:${minute}`,
    `${hour % 13}pm`,
    `${hour % 13}:${minute}am`,
    `${hour}`,
  ])
}

function amount(random: Random): string {
  const one = () => `${pick(random, ['a', 'two', '3', '45', '1.5', '90'])} ${pick(random, UNITS)}`
  const duration = random.weighted<() => string>([
    [4, one],
    [1, () => `${one()} and ${one()}`],
    [1, () => pick(random, ['half an hour', '1h30m', '90m', '2d4h'])],
  ])()
  return random.chance(0.7) ? `in ${duration}` : `${duration} from now`
}

/** Generates phrases for one instant. */
export const ONCE: Language = {
  valid: (random) =>
    random.weighted<() => string>([
      [5, () => `${date(random)} ${pick(random, ['at ', 'at ', '', '@ '])}${time(random)}`],
      [2, () => date(random)],
      [1, () => `${time(random)} ${date(random)}`],
      [3, () => `at ${time(random)}`],
      [3, () => amount(random)],
      [1, () => `${amount(random)} at ${time(random)}`],
      [1, () => `${pick(random, WEEKDAYS)} ${date(random)}`],
      [1, () => ISO.valid(random)],
    ])(),
  pieces:
    'in at on the next this last a an half and of from now tomorrow today tonight noon midnight monday friday sat december feb may 24 29 31 5 5pm 17:30 5:30am 25:00 3rd 31st 32nd 2026 2027 2026-12-24 2026-02-30 03/04 13/13 12/24/2026 2/29/2027 31.4.2027 hours minutes days weeks months years 1h30m 9999999 999999999 week month year day after 0 00:00 -1 1e9 p.m. a.m. UTC Z . , @ P1D PT5M'.split(
      ' ',
    ),
}

/** The parser of phrases for one instant. */
export const oncePhrase: Subject<string, Parsed> = {
  name: 'one-shot phrase',
  make: (random) => textFrom(random, ONCE),
  read: (text, context) => parse(text, context),
  check(text, answer, context) {
    if (!('instant' in answer)) return
    const { instant: at, notes } = answer
    assertInstant(at)
    if (isIso(text)) {
      assertIso(text, at, context.timezone)
      return
    }
    assertDay(text, at, notes, context)
    // Without a year or a word for today ('in 0 days' is one too), the soonest future one is meant.
    if (!/\d{4}|today|tonight|\b(?:0|zero) ?[dwmy]/i.test(text) && at < context.now)
      throw new Bogus(`${at} is before ${context.now}`)
  },
}

/** Checks that the day in the text exists, and is the day of the result. */
function assertDay(text: string, at: number, notes: readonly string[], { timezone }: FuzzContext): void {
  const local = new Date(localOf(timezone, at))
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate()]
  const date = `${year}-${month}-${day}`
  const skipped = notes.some((note) => note.includes('does not exist'))
  const words = text.toLowerCase()
  const named = dayIn(words)
  if (named !== null) {
    if (!isDate(named.year ?? year, named.month, named.day)) throw new Bogus('there is no such day')
    const same = named.day === day && named.month === month && (named.year ?? year) === year
    if (!same && !skipped) throw new Bogus(`it falls on ${date}`)
  }
  const weekday = new RegExp(`\\b(${WEEKDAYS.join('|')})\\b`).exec(words)?.[1]
  const falls = WEEKDAYS[(local.getUTCDay() + 6) % 7]
  if (weekday !== undefined && weekday !== falls && !skipped) throw new Bogus(`${date} is a ${falls}`)
}

interface NamedDay {
  year?: number
  month: number
  day: number
}

/** A day in digits, or with the name of its month. */
function dayIn(words: string): NamedDay | null {
  const iso = /(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?!\d)/.exec(words)
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) }
  const figures = /(?<![\d./])(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?!\d)/.exec(words)
  if (figures !== null) {
    const [a, b] = [Number(figures[1]), Number(figures[2])]
    return { year: Number(figures[3]), month: a > 12 ? b : a, day: a > 12 ? a : b }
  }
  const names = MONTHS.join('|')
  const after = new RegExp(
    `\\b(${names}) (\\d{1,2})(?:st|nd|rd|th)?\\b(?![:.\\d]|\\s*[ap]m)(?:,? (\\d{4})\\b)?`,
  ).exec(words)
  if (after !== null) return named(after[1]!, after[2]!, after[3])
  const before = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${names})\\b(?:,? (\\d{4})\\b)?`).exec(
    words,
  )
  return before === null ? null : named(before[2]!, before[1]!, before[3])
}

function named(month: string, day: string, year: string | undefined): NamedDay {
  return {
    month: MONTHS.indexOf(month) + 1,
    day: Number(day),
    ...(year !== undefined && { year: Number(year) }),
  }
}
