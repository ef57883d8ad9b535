/**
 * Random rules with random days off, against a walk over every day that shares no code with src/time.
 *
 *   node test/calendar/days-off-oracle.ts [cases=20000] [seed]
 */
import {
  type CalendarLookup,
  daysOffOf,
  followingOccurrence,
  isOnDayOff,
  type NextOccurrence,
  occurrenceAfter,
  occurrenceFrom,
  type RecurringRule,
  resolveWhen,
  type When,
} from '../../src/time/index.ts'
import { Random } from '../random.ts'
import { isoDay, type RandomRule, randomDates, randomRule, someOf } from './days-off-random.ts'
import { DAY_S, randomZone, type SlowDaysOff, type SlowZone, slowDaysOff } from './days-off-world.ts'

const NAMES = 'mon tue wed thu fri sat sun'.split(' ')

/** What came of one case. */
export interface Compared {
  standings: number
  refused: boolean
  mismatch: string | null
}

interface Case {
  zone: SlowZone
  given: RandomRule['given']
  /** The rule's own instants in epoch seconds, in order, each with its written second of the day. */
  nominals: { at: number; second: number }[]
  off: SlowDaysOff
  move: 'next' | 'previous' | undefined
  offset: number
  last: boolean
  /** Whether the rule has an end, so that its instants are all there. */
  whole: boolean
  when: When
  calendars: CalendarLookup
  now: number
}

/** Compares one random case: the first standing when it is set, and after each instant, or so many of them. */
export function compareDaysOff(random: Random, most = Number.POSITIVE_INFINITY): Compared {
  const given = randomCase(random)
  try {
    return compare(given, most)
  } catch (thrown) {
    const { message } = thrown as Error
    const open = given.nominals.some(({ at }) => at > given.now && !given.off.isOff(shownDay(given, at)))
    const rightly = /fires only on days off|never fires/.test(message) && (given.move !== undefined || !open)
    return { standings: 0, refused: true, mismatch: rightly ? null : `refused: ${message} ${told(given)}` }
  }
}

function randomCase(random: Random): Case {
  const move = random.weighted<Case['move']>([
    [2, undefined],
    [1, 'next'],
    [1, 'previous'],
  ])
  const offset = move !== undefined && random.chance(0.4) ? random.between(-6, 6) : 0
  const zone = randomZone(random)
  const wantsLast = random.chance(0.3)
  const { given, nominals: all, window } = randomRule(random, zone, move !== undefined, wantsLast)
  // Intervals take no word on clock changes.
  const last = wantsLast && !('every' in given)
  const dates = randomDates(random, window)
  const own = random.chance(0.2) ? randomWeekend(random) : []
  // Where something moves and nobody says a weekend, Saturday and Sunday are off.
  const unsaid = random.chance(0.2)
  const weekend = !unsaid ? randomWeekend(random) : move !== undefined && own.length === 0 ? [6, 7] : []
  const whole = random.chance(0.3)
  const endDay = random.between(window.from + 100, window.to)
  const end = whole ? zone.place(endDay * DAY_S + 12 * 3600, false) : Number.POSITIVE_INFINITY
  const nominals = all.filter(({ at }) => at <= end)
  const calendar = {
    name: 'some',
    version: 1,
    dates: Object.fromEntries([...dates].map((day) => [isoDay(day), ''])),
    weekend: own,
  }
  const when = {
    ...given,
    timezone: zone.name,
    ...(!('every' in given) && { dst: { overlap: last ? 'last' : 'first' } }),
    ...(whole && { end: new Date(end * 1000) }),
    exclude: {
      calendars: 'some',
      ...(!unsaid && { weekend: weekend.map((day) => NAMES[day - 1]!) }),
      ...(move && { move }),
      ...(offset !== 0 && { offset }),
    },
  }
  return {
    zone,
    given,
    nominals,
    off: slowDaysOff([...weekend, ...own], dates),
    move,
    offset,
    last,
    whole,
    when: when as When,
    calendars: (name) => (name === 'some' ? calendar : undefined),
    now: (window.from + random.between(60, 90)) * DAY_S + random.between(0, DAY_S),
  }
}

function randomWeekend(random: Random): number[] {
  return random.weighted<() => number[]>([
    [4, () => [6, 7]],
    [1, () => [5, 6]],
    [1, () => []],
    [1, () => someOf(random, 5, random.between(1, 3)).map((day) => day + 1)],
  ])()
}

/** The standings a case must have, by nominal: null where the window does not tell. */
function expected(given: Case): (NextOccurrence | null)[] {
  const { nominals, move } = given
  if (move === undefined) {
    const open = nominals.map(({ at }) => !given.off.isOff(shownDay(given, at)))
    return nominals.map(({ at: nominal }, index) => {
      const found = open.indexOf(true, index)
      const at = found === -1 ? (given.whole ? nominals.at(-1)!.at : null) : nominals[found]!.at
      return at === null ? null : occurrence(at, nominal)
    })
  }
  return nominals.map(({ at, second }) => {
    const day = landingDay(given, at)
    return occurrence(
      day === shownDay(given, at) ? at : given.zone.place(day * DAY_S + second, given.last),
      at,
    )
  })
}

function occurrence(at: number, nominal: number): NextOccurrence {
  return { at: at * 1000, nominal: nominal * 1000 }
}

function landingDay(given: Case, at: number): number {
  return given.off.landing(shownDay(given, at), given.move!, given.offset)
}

function shownDay({ zone }: Case, at: number): number {
  return Math.floor((at + zone.offsetAt(at)) / DAY_S)
}

function compare(given: Case, most: number): Compared {
  const { nominals, move, now } = given
  const resolved = resolveWhen(given.when, { now: now * 1000, timezone: 'UTC', calendars: given.calendars })
  const rule = resolved.rule as RecurringRule
  const off = daysOffOf(rule.exclude ?? { weekend: [] }, given.calendars)
  const wanted = expected(given)
  const landings = move === undefined ? [] : nominals.map(({ at }) => landingDay(given, at))
  /** The first that stands alone: of those that land on one day the first. */
  const heads = wanted.filter((_, index) => move === undefined || landings[index] !== landings[index - 1])
  const first =
    move === undefined
      ? wanted[nominals.findIndex(({ at }) => at > now)]
      : heads.find((each) => each!.at > now * 1000)
  const problems: string[] = []
  const check = (
    what: string,
    second: number,
    found: NextOccurrence | null,
    want: NextOccurrence | null | undefined,
  ) => {
    if (want === undefined || want === null) return
    if (found?.at === want.at && found.nominal === want.nominal) return
    problems.push(`${what} ${iso(second)}: ${show(found)}, and the slow way says ${show(want)}`)
  }
  check('set', now, { at: resolved.first, nominal: resolved.nominal }, first)
  const stride = Math.ceil(nominals.length / most) || 1
  for (let index = 0; index < nominals.length; index += stride) {
    const { at } = nominals[index]!
    const next = move === undefined ? wanted[index + 1] : wanted[later(landings, index)]
    check('after', at, occurrenceAfter(rule, off, at * 1000), next)
    check('from', at, occurrenceFrom(rule, off, at * 1000), wanted[index])
    if (isOnDayOff(rule, off, at * 1000) !== given.off.isOff(shownDay(given, at))) {
      problems.push(`${iso(at)} is off: ${isOnDayOff(rule, off, at * 1000)}`)
    }
    if (given.whole && index === nominals.length - 1 && occurrenceAfter(rule, off, at * 1000) !== null) {
      problems.push(`it goes on after its end, ${iso(at)}`)
    }
  }
  problems.push(...disorder(rule, off, { at: resolved.first, nominal: resolved.nominal }))
  const mismatch = problems.length === 0 ? null : `${problems[0]} (${problems.length}) ${told(given)}`
  return { standings: Math.ceil(nominals.length / stride), refused: false, mismatch }
}

/** The first after this one that lands on a later day; there may be none, which is past the end of the list. */
function later(landings: readonly number[], index: number): number {
  let next = index + 1
  while (next < landings.length && landings[next]! <= landings[index]!) next++
  return next
}

/** Standings must come one after the other. */
function disorder(rule: RecurringRule, off: ReturnType<typeof daysOffOf>, first: NextOccurrence): string[] {
  let before = first
  for (let count = 0; count < 50; count++) {
    const next = followingOccurrence(rule, off, before)
    if (next === null) return []
    if (next.at <= before.at || next.nominal <= before.nominal) return [`${show(next)} after ${show(before)}`]
    before = next
  }
  return []
}

function show(occurrence: NextOccurrence | null): string {
  return occurrence === null ? 'none' : `${iso(occurrence.at / 1000)} of ${iso(occurrence.nominal / 1000)}`
}

function iso(second: number): string {
  return new Date(second * 1000).toISOString().slice(0, 16)
}

function told({ when, now }: Case): string {
  return `${JSON.stringify(when)} at ${iso(now)}`
}

if (import.meta.main) {
  const cases = Number(process.argv[2] ?? 20_000)
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
  console.log(`${cases} random rules with days off, seed ${seed}`)
  let [standings, refused, mismatches] = [0, 0, 0]
  for (let index = 0; index < cases; index++) {
    // Each case has a seed of its own, so that one can be run again alone: cases=1 seed=<its seed>.
    const own = (seed + index) % 2 ** 32
    const result = compareDaysOff(new Random(own))
    standings += result.standings
    if (result.refused) refused++
    if (result.mismatch === null) continue
    mismatches++
    if (mismatches <= 20) console.log(`MISMATCH seed ${own}: ${result.mismatch}\n`)
  }
  console.log(`${standings} standings, ${refused} cases refused on both sides, ${mismatches} mismatches`)
  process.exitCode = mismatches === 0 ? 0 : 1
}
