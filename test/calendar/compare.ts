import { countBetween, type Rule, scheduleOf } from '../../src/time/index.ts'
import {
  around,
  expectedInstants,
  expectedInterval,
  isInterval,
  POLICIES,
  type Policy,
  wallTimesOf,
} from './expected.ts'
import type { Transition, Zone } from './tzif.ts'

/** Expressions compared at every change; each change adds one with a wall time that it affects. */
export const EXPRESSIONS = [
  '30 2 * * *',
  '0 0 * * *',
  '*/10 0-3,23 * * *',
  '5,35 1-2 * * 0,6',
  '15 30 0,1,2,3 * * *',
  '0 12 15 * 0',
  '*/15 * * * *',
  '0 * * * *',
  '0 */2 * * *',
  '*/20 */5 * * 0',
  '30 7 */3 * * *',
]

export const YEAR_FIRST = 2000
export const YEAR_LAST = 2037
type Years = readonly [first: number, last: number]
const HOUR = 3600
const DAY = 86_400

/** The result of a comparison. */
export interface Tally {
  zones: number
  transitions: number
  walks: number
  instants: number
  mismatches: string[]
  /** Changes that the two versions of the zone data do not share, with their zones. */
  skipped: string[]
}

/** The code under test: the next instants of a cron expression, and how many are in (after, until], in milliseconds. */
export type Subject = (
  zone: string,
  expression: string,
  policy: Policy,
) => { next(after: number): number | null; count(after: number, until: number): number }

/** Wakeful itself. */
export const wakeful: Subject = (timezone, cron, dst) => {
  const rule: Rule = { kind: 'cron', cron, anchor: 0, timezone, dst }
  return {
    next: scheduleOf(rule).next,
    count: (after, until) => countBetween(rule, after, until, 0).count,
  }
}

export function newTally(): Tally {
  return { zones: 0, transitions: 0, walks: 0, instants: 0, mismatches: [], skipped: [] }
}

/** Compares one zone at all its changes in these years. */
export function compareZone(
  zone: Zone,
  tally: Tally,
  { subject = wakeful, years = [YEAR_FIRST, YEAR_LAST] }: { subject?: Subject; years?: Years } = {},
): void {
  tally.zones++
  const ours = inYears(zone.transitions, years)
  const theirs = inYears(runtimeTransitions(zone.name), years)
  const differing = [...without(ours, theirs), ...without(theirs, ours)]
  for (const transition of ours) {
    // Skipped near a change that only one version of the zone data has: there the data differ, not the code.
    if (differing.some(({ at }) => Math.abs(at - transition.at) < 7 * DAY)) {
      tally.skipped.push(`${zone.name} ${formatTransition(transition)}`)
    } else compareTransition(zone, transition, tally, subject)
  }
  const only = without(theirs, ours).filter(({ at }) =>
    ours.every((mine) => Math.abs(mine.at - at) >= 7 * DAY),
  )
  for (const transition of only)
    tally.skipped.push(`${zone.name} ${formatTransition(transition)} (the runtime's alone)`)
}

function compareTransition(zone: Zone, transition: Transition, tally: Tally, subject: Subject): void {
  tally.transitions++
  const from = transition.at - 30 * HOUR
  const to = transition.at + 54 * HOUR
  const near = around(zone, from - 5 * DAY, to + 5 * DAY)
  for (const expression of EXPRESSIONS) {
    const interval = isInterval(expression) ? expectedInterval(expression, near, from, to) : null
    const wallTimes = interval === null ? wallTimesOf(expression, from - 2 * DAY, to + 2 * DAY) : []
    for (const policy of POLICIES) {
      const expected = interval ?? expectedInstants(wallTimes, near, policy, from, to)
      compareWalk({ zone: zone.name, expression, policy, from, to, expected }, tally, subject)
    }
  }
  // Once a year, in the middle of the gap or the repeated hour; searched from months before, over other changes.
  const { before, after, at } = transition
  const touched = new Date((at + Math.floor((before + after) / 2 / 60) * 60) * 1000)
  const expression = `${touched.getUTCMinutes()} ${touched.getUTCHours()} ${touched.getUTCDate()} ${touched.getUTCMonth() + 1} *`
  const wallTimes = wallTimesOf(expression, from - 2 * DAY, to + 2 * DAY)
  for (const policy of POLICIES) {
    const expected = expectedInstants(wallTimes, near, policy, from, to)
    compareWalk({ zone: zone.name, expression, policy, from: at - 300 * DAY, to, expected }, tally, subject)
  }
}

interface Asked {
  zone: string
  expression: string
  policy: Policy
  from: number
  to: number
  expected: number[]
}

function compareWalk(
  { zone, expression, policy, from, to, expected }: Asked,
  tally: Tally,
  subject: Subject,
): void {
  const { next, count: counted } = subject(zone, expression, policy)
  const found: number[] = []
  for (let at = next(from * 1000); at !== null && at <= to * 1000; at = next(at)) {
    if (at <= (found.at(-1) ?? from) * 1000) {
      tally.mismatches.push(`${zone} '${expression}' ${JSON.stringify(policy)}: does not increase at ${at}`)
      return
    }
    found.push(at / 1000)
  }
  tally.walks++
  tally.instants += expected.length
  const count = counted(from * 1000, to * 1000)
  const same = found.length === expected.length && found.every((at, index) => at === expected[index])
  if (same && count === expected.length) return
  const wrong = [...differences(found, expected, 'extra'), ...differences(expected, found, 'missing')].slice(
    0,
    3,
  )
  tally.mismatches.push(
    `${zone} '${expression}' ${policy.gap}/${policy.overlap}: ${wrong.join(', ')}; counted ${count} of ${expected.length}`,
  )
}

function differences(some: number[], others: number[], word: string): string[] {
  return some.filter((at) => !others.includes(at)).map((at) => `${word} ${new Date(at * 1000).toISOString()}`)
}

function without(some: Transition[], others: Transition[]): Transition[] {
  const key = ({ at, before, after }: Transition) => `${at} ${before} ${after}`
  const known = new Set(others.map(key))
  return some.filter((transition) => !known.has(key(transition)))
}

function inYears(transitions: Transition[], [yearFirst, yearLast]: Years): Transition[] {
  const [first, last] = [Date.UTC(yearFirst, 0, 1) / 1000, Date.UTC(yearLast + 1, 0, 1) / 1000]
  return transitions.filter(({ at }) => at >= first && at < last)
}

/** The changes in the runtime's zone data, to find where they are of another version. */
function runtimeTransitions(zone: string): Transition[] {
  const transitions: Transition[] = []
  const offset = (at: number) =>
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).offsetNanoseconds / 1e9
  let at = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone)
  for (;;) {
    const next = at.getTimeZoneTransition('next')
    if (next === null || next.year > YEAR_LAST + 1) return transitions
    const ms = next.epochMilliseconds
    transitions.push({ at: ms / 1000, before: offset(ms - 1), after: offset(ms) })
    at = next
  }
}

function formatTransition({ at, before, after }: Transition): string {
  return `${new Date(at * 1000).toISOString()} ${before / HOUR}h to ${after / HOUR}h`
}
