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
import { type BruteDaysOff, type BruteZone, bruteDaysOff, DAY_S, randomZone } from './days-off-brute.ts'
import { isoDay, type RandomRule, randomDates, randomRule, someOf } from './days-off-random.ts'

const NAMES = 'mon tue wed thu fri sat sun'.split(' ')

/** The result of one case. */
export interface Compared {
  occurrences: number
  refused: boolean
  mismatch: string | null
}

interface Case {
  zone: BruteZone
  input: RandomRule['input']
  /** The rule's own instants in epoch seconds, sorted, each with its written second of the day. */
  nominals: { at: number; second: number }[]
  off: BruteDaysOff
  move: 'next' | 'previous' | undefined
  offset: number
  last: boolean
  /** Whether the rule has an end, so that the list of its instants is complete. */
  whole: boolean
  when: When
  calendars: CalendarLookup
  now: number
}

/** Compares one random case: the first occurrence when it is set, and the one after each instant, up to a limit. */
export function compareDaysOff(random: Random, most = Number.POSITIVE_INFINITY): Compared {
  const testCase = randomCase(random)
  try {
    return compare(testCase, most)
  } catch (thrown) {
    const { message } = thrown as Error
    const open = testCase.nominals.some(
      ({ at }) => at > testCase.now && !testCase.off.isOff(localDay(testCase, at)),
    )
    const rightly =
      /fires only on days off|never fires/.test(message) && (testCase.move !== undefined || !open)
    return {
      occurrences: 0,
      refused: true,
      mismatch: rightly ? null : `refused: ${message} ${describeCase(testCase)}`,
    }
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
  const { input, nominals: all, window } = randomRule(random, zone, move !== undefined, wantsLast)
  // Intervals have no policy for clock changes.
  const last = wantsLast && !('every' in input)
  const dates = randomDates(random, window)
  const own = random.chance(0.2) ? randomWeekend(random) : []
  // With move and without a weekend, Saturday and Sunday are off.
  const noWeekend = random.chance(0.2)
  const weekend = !noWeekend ? randomWeekend(random) : move !== undefined && own.length === 0 ? [6, 7] : []
  const whole = random.chance(0.3)
  const endDay = random.between(window.from + 100, window.to)
  const end = whole ? zone.instantOf(endDay * DAY_S + 12 * 3600, false) : Number.POSITIVE_INFINITY
  const nominals = all.filter(({ at }) => at <= end)
  const calendar = {
    name: 'some',
    version: 1,
    dates: Object.fromEntries([...dates].map((day) => [isoDay(day), ''])),
    weekend: own,
  }
  const when = {
    ...input,
    timezone: zone.name,
    ...(!('every' in input) && { dst: { overlap: last ? 'last' : 'first' } }),
    ...(whole && { end: new Date(end * 1000) }),
    exclude: {
      calendars: 'some',
      ...(!noWeekend && { weekend: weekend.map((day) => NAMES[day - 1]!) }),
      ...(move && { move }),
      ...(offset !== 0 && { offset }),
    },
  }
  return {
    zone,
    input,
    nominals,
    off: bruteDaysOff([...weekend, ...own], dates),
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

/** The expected occurrences of a case, by nominal instant; null beyond the window. */
function expected(testCase: Case): (NextOccurrence | null)[] {
  const { nominals, move } = testCase
  if (move === undefined) {
    const open = nominals.map(({ at }) => !testCase.off.isOff(localDay(testCase, at)))
    return nominals.map(({ at: nominal }, index) => {
      const found = open.indexOf(true, index)
      const at = found === -1 ? (testCase.whole ? nominals.at(-1)!.at : null) : nominals[found]!.at
      return at === null ? null : occurrence(at, nominal)
    })
  }
  return nominals.map(({ at, second }) => {
    const day = movedDay(testCase, at)
    return occurrence(
      day === localDay(testCase, at) ? at : testCase.zone.instantOf(day * DAY_S + second, testCase.last),
      at,
    )
  })
}

function occurrence(at: number, nominal: number): NextOccurrence {
  return { at: at * 1000, nominal: nominal * 1000 }
}

function movedDay(testCase: Case, at: number): number {
  return testCase.off.movedDay(localDay(testCase, at), testCase.move!, testCase.offset)
}

function localDay({ zone }: Case, at: number): number {
  return Math.floor((at + zone.offsetAt(at)) / DAY_S)
}

function compare(testCase: Case, most: number): Compared {
  const { nominals, move, now } = testCase
  const resolved = resolveWhen(testCase.when, {
    now: now * 1000,
    timezone: 'UTC',
    calendars: testCase.calendars,
  })
  const rule = resolved.rule as RecurringRule
  const off = daysOffOf(rule.exclude ?? { weekend: [] }, testCase.calendars)
  const wanted = expected(testCase)
  const movedDays = move === undefined ? [] : nominals.map(({ at }) => movedDay(testCase, at))
  /** The first of those that move to the same day. */
  const heads = wanted.filter((_, index) => move === undefined || movedDays[index] !== movedDays[index - 1])
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
    problems.push(`${what} ${iso(second)}: ${show(found)}, brute force gives ${show(want)}`)
  }
  check('set', now, { at: resolved.first, nominal: resolved.nominal }, first)
  const stride = Math.ceil(nominals.length / most) || 1
  for (let index = 0; index < nominals.length; index += stride) {
    const { at } = nominals[index]!
    const next = move === undefined ? wanted[index + 1] : wanted[later(movedDays, index)]
    check('after', at, occurrenceAfter(rule, off, at * 1000), next)
    check('from', at, occurrenceFrom(rule, off, at * 1000), wanted[index])
    if (isOnDayOff(rule, off, at * 1000) !== testCase.off.isOff(localDay(testCase, at))) {
      problems.push(`${iso(at)} is off: ${isOnDayOff(rule, off, at * 1000)}`)
    }
    if (testCase.whole && index === nominals.length - 1 && occurrenceAfter(rule, off, at * 1000) !== null) {
      problems.push(`it goes on after its end, ${iso(at)}`)
    }
  }
  problems.push(...disorder(rule, off, { at: resolved.first, nominal: resolved.nominal }))
  const mismatch =
    problems.length === 0 ? null : `${problems[0]} (${problems.length}) ${describeCase(testCase)}`
  return { occurrences: Math.ceil(nominals.length / stride), refused: false, mismatch }
}

/** The first after this one that moves to a later day; past the end of the list if there is none. */
function later(movedDays: readonly number[], index: number): number {
  let next = index + 1
  while (next < movedDays.length && movedDays[next]! <= movedDays[index]!) next++
  return next
}

/** Occurrences must be in order. */
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

function describeCase({ when, now }: Case): string {
  return `${JSON.stringify(when)} at ${iso(now)}`
}

if (import.meta.main) {
  const cases = Number(process.argv[2] ?? 20_000)
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
  console.log(`${cases} random rules with days off, seed ${seed}`)
  let [occurrences, refused, mismatches] = [0, 0, 0]
  for (let index = 0; index < cases; index++) {
    // Each case has its own seed, so that it can be repeated alone: cases=1 seed=<its seed>.
    const own = (seed + index) % 2 ** 32
    const result = compareDaysOff(new Random(own))
    occurrences += result.occurrences
    if (result.refused) refused++
    if (result.mismatch === null) continue
    mismatches++
    if (mismatches <= 20) console.log(`MISMATCH seed ${own}: ${result.mismatch}\n`)
  }
  console.log(`${occurrences} occurrences, ${refused} cases refused on both sides, ${mismatches} mismatches`)
  process.exitCode = mismatches === 0 ? 0 : 1
}
