import { parseArgs } from 'node:util'
import { WakefulError } from '../../src/error.ts'
import { parse } from '../../src/time/parse.ts'
import { parseRecurring } from '../../src/time/recurring-phrase.ts'
import { compileRrule } from '../../src/time/rrule.ts'
import { resolveWhen, type WhenContext } from '../../src/time/when.ts'
import { Random } from '../chaos/random.ts'

const WORDS =
  'every each other daily hourly weekly monthly yearly nightly weekday weekdays weekend weekends monday tue wednesday mondays fridays mon-fri first second third fifth last 1st 2nd 15th 31st 32nd day days week weeks month months year hour hours minute minutes second seconds ms of the in on at and & to through from between until till starting ending for times 10 2 3 15 9 17 5 0 24 45 9am 5pm 9:30 17:00 25:00 13pm noon midnight morning evening night december feb june 24 29 30 2026-12-01 2027-01-01t10:00 2025-01-01 12/24 03/04 today tomorrow now next except excluding us-holidays quarter workday once twice a an half quarter working business a.m. p.m. utc europe/rome EST , . ! @ :15 :60 - -- 1h30m 1.5 1e9 999999999 __proto__ constructor \u0130 \u2028 9-17'.split(
    ' ',
  )
const LETTERS = 'aeimnorstuvwxyd0123456789:.,/-@ \t\n\u00a0\u0130'
const FORMS = [
  'every weekday at 9am',
  'every 15 minutes between 9 and 17 on weekdays',
  'every other tuesday at 9am',
  'first monday of each month at 10:00',
  'every year on december 24 at 18:00 until 2030-01-01',
  'every 2 weeks on monday and friday at 9am and 5pm, 10 times',
  'every working day at 9am except us-holidays and company until 2030-01-01',
  'last working day of the month at 17:00',
  'in 3 working days at 9am',
]
const ZONES = ['UTC', 'Europe/Rome', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/St_Johns']
const MOMENTS = [
  '2026-03-04T09:30:15.123Z',
  '2026-03-29T00:59:59.999Z',
  '2028-02-29T12:00Z',
  '2026-12-31T23:00Z',
]

/** Every name is that of a calendar, so that what fires can be seen. */
const anyCalendar = (name: string) => ({ name, version: 1, dates: { '2026-12-25': '' }, weekend: [] })

/** What came of the fuzzed texts. */
export interface PhraseFuzz {
  understood: number
  refused: number
  once: number
  /** The slowest text, and the processor time of its one and only try: caches are cold, other processes do not count. */
  slowestMs: number
  slowest: string
  /** The longest any took by the clock on the wall, with whatever else the machine was doing. */
  wallMs: number
}

/** A text of known words, of a known phrase with something changed, of letters, or of one word far too often. */
function fuzzed(random: Random): string {
  const pick = <T>(from: readonly T[]): T => from[random.between(0, from.length - 1)]!
  const words = (most: number) => Array.from({ length: random.between(0, most) }, () => pick(WORDS))
  return random.weighted<() => string>([
    [5, () => ['every', ...words(8)].join(' ')],
    [3, () => words(9).join(' ')],
    [
      5,
      () => {
        const form = pick(FORMS).split(' ')
        form.splice(random.between(0, form.length), random.between(0, 2), ...words(2))
        return form.join(random.chance(0.9) ? ' ' : pick(['', '  ', ' and ', ', ']))
      },
    ],
    [
      1,
      () =>
        Array.from(
          { length: random.between(0, 60) },
          () => LETTERS[random.between(0, LETTERS.length - 1)],
        ).join(''),
    ],
    [
      1,
      () => `${pick(WORDS)}${pick([' ', '', ', ', ' and '])}`.repeat(random.between(1, 300)).slice(0, 1000),
    ],
  ])()
}

/**
 * Reads random texts as phrases: each is understood, refused or no recurrence, never slow, and what is understood has
 * a wording that reads as the same rule.
 */
export function fuzzPhrases(count: number, seed: number): PhraseFuzz {
  const random = new Random(seed)
  const found: PhraseFuzz = { understood: 0, refused: 0, once: 0, slowestMs: 0, slowest: '', wallMs: 0 }
  for (let done = 0; done < count; done++) {
    const text = fuzzed(random)
    const context = {
      now: Date.parse(MOMENTS[random.between(0, MOMENTS.length - 1)]!),
      timezone: ZONES[random.between(0, ZONES.length - 1)]!,
      calendars: anyCalendar,
    }
    const [wallStart, cpuStart] = [performance.now(), process.threadCpuUsage()]
    found[outcome(text, context)] += 1
    const cpu = process.threadCpuUsage(cpuStart)
    found.wallMs = Math.max(found.wallMs, performance.now() - wallStart)
    const ms = (cpu.user + cpu.system) / 1000
    if (ms > found.slowestMs) Object.assign(found, { slowestMs: ms, slowest: text })
  }
  return found
}

function outcome(text: string, context: WhenContext): 'understood' | 'refused' | 'once' {
  try {
    const phrase = parseRecurring(text, context)
    if (phrase !== null) return assertSameAgain(text, phrase, context)
    parse(text, context)
    return 'once'
  } catch (thrown) {
    if (!(thrown instanceof WakefulError))
      throw new Error(`crashed on ${JSON.stringify(text)}`, { cause: thrown })
    if (thrown.message.length > 700) throw new Error(`${JSON.stringify(text)}: the refusal is too long`)
    return 'refused'
  }
}

function assertSameAgain(
  text: string,
  phrase: NonNullable<ReturnType<typeof parseRecurring>>,
  context: WhenContext,
): 'understood' {
  const shown = ({ notes: _notes, ...rest }: typeof phrase) => JSON.stringify(rest)
  let again: string
  try {
    again = shown(parseRecurring(phrase.wording, context)!)
  } catch (cause) {
    throw new Error(`${JSON.stringify(text)} is read as '${phrase.wording}', which is not understood`, {
      cause,
    })
  }
  if (again === shown(phrase)) return assertFires(text, phrase, context)
  throw new Error(`${JSON.stringify(text)} reads as ${shown(phrase)}, and its wording as ${again}`)
}

/** What a phrase comes to is a rule that fires, unless its own bounds leave nothing. */
function assertFires(
  text: string,
  { wording: _wording, notes: _notes, ...when }: NonNullable<ReturnType<typeof parseRecurring>>,
  context: WhenContext,
): 'understood' {
  if ('rrule' in when) assertStartMatches(text, when.rrule, context)
  try {
    const { first } = resolveWhen(when, context)
    if (first > context.now) return 'understood'
  } catch (thrown) {
    const bounded = /no instant between|fires only on days off|before the start|years 1970 to 9999/
    if (thrown instanceof WakefulError && bounded.test(thrown.message)) return 'understood'
    throw new Error(`${JSON.stringify(text)} gives ${JSON.stringify(when)}, which is refused`, {
      cause: thrown,
    })
  }
  throw new Error(`${JSON.stringify(text)} gives ${JSON.stringify(when)}, which fires in the past`)
}

/** DTSTART is itself the first occurrence: were it none, weeks and months would be counted from another day. */
function assertStartMatches(
  text: string,
  rrule: string,
  { now, timezone }: { now: number; timezone: string },
): void {
  const start = /^DTSTART;TZID=[^:]+:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(rrule)!.slice(1).map(Number)
  const [year, month, day, hour, minute, second] = start as [number, number, number, number, number, number]
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  const first = compileRrule(rrule, { timezone, anchor: now }).nextWall(Number.MIN_SAFE_INTEGER)
  if (first === wall) return
  throw new Error(
    `${JSON.stringify(text)} gives ${JSON.stringify(rrule)}, whose first is ${first}, not ${wall}`,
  )
}

/** `node test/calendar/phrase-fuzz.ts [--count 100000] [--seed N]`: the long form. */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  console.log(`node test/calendar/phrase-fuzz.ts --count ${values.count} --seed ${values.seed}`)
  const found = fuzzPhrases(Number(values.count), Number(values.seed))
  console.log(found)
  if (found.slowestMs > 50) process.exitCode = 1
}
