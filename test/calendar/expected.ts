import type { Transition, Zone } from './tzif.ts'

/** The policy for clock changes. */
export interface Policy {
  gap: 'shift' | 'skip'
  overlap: 'first' | 'last' | 'both'
}

/** All policies. */
export const POLICIES: Policy[] = (['shift', 'skip'] as const).flatMap((gap) =>
  (['first', 'last', 'both'] as const).map((overlap) => ({ gap, overlap })),
)

/** The zone around one of its changes: the offsets in force for days on both sides. */
export interface Around {
  transitions: Transition[]
  offsetFirst: number
  offsets: number[]
}

interface Fields {
  second: (value: number) => boolean
  minute: (value: number) => boolean
  hour: (value: number) => boolean
  /** Days since 1970. */
  day: (day: number) => boolean
  /** The step of an hour field that is an interval: 1 for `*`. */
  hourStep: number | null
}

/** The zone in [from, to], with the offset at its beginning. */
export function around(zone: Zone, from: number, to: number): Around {
  const offsetFirst = zone.transitions.findLast(({ at }) => at <= from)?.after ?? zone.first
  const transitions = zone.transitions.filter(({ at }) => at > from && at <= to)
  const offsets = [...new Set([offsetFirst, ...transitions.map(({ after }) => after)])]
  return { offsetFirst, transitions, offsets }
}

/** Every wall time of an expression in [from, to], by testing each wall-clock minute. */
export function wallTimesOf(expression: string, from: number, to: number): number[] {
  const fields = parse(expression)
  const wallTimes: number[] = []
  for (let wall = Math.floor(from / 60) * 60; wall <= to; wall += 60) {
    if (!fields.minute((wall / 60) % 60) || !fields.hour(Math.floor(wall / 3600) % 24)) continue
    if (!fields.day(Math.floor(wall / 86_400))) continue
    for (let second = 0; second < 60; second++) if (fields.second(second)) wallTimes.push(wall + second)
  }
  return wallTimes
}

/**
 * The expected instants of wall times in (from, to], in epoch seconds, by brute force: for each wall time, the instants
 * at which the zone has it.
 */
export function expectedInstants(
  wallTimes: number[],
  zone: Around,
  policy: Policy,
  from: number,
  to: number,
): number[] {
  const found = new Set<number>()
  for (const wall of wallTimes) {
    for (const at of instantsOf(wall, zone, policy)) if (at > from && at <= to) found.add(at)
  }
  return [...found].sort((a, b) => a - b)
}

function instantsOf(wall: number, zone: Around, policy: Policy): number[] {
  const matching = zone.offsets
    .filter((offset) => offsetAt(wall - offset, zone) === offset)
    .map((offset) => wall - offset)
    .sort((a, b) => a - b)
  if (matching.length === 0) {
    const gap = zone.transitions.find(({ at, before, after }) => wall >= at + before && wall < at + after)
    if (gap === undefined) throw new Error(`wall time ${wall} neither exists nor is in a gap`)
    // Later by the length of the gap, as if the clock had not changed.
    return policy.gap === 'shift' ? [wall - gap.before] : []
  }
  if (policy.overlap === 'both') return matching
  return [policy.overlap === 'first' ? matching[0]! : matching.at(-1)!]
}

function offsetAt(instant: number, zone: Around): number {
  return zone.transitions.findLast(({ at }) => at <= instant)?.after ?? zone.offsetFirst
}

/** Whether the hour field makes the expression an interval. */
export function isInterval(expression: string): boolean {
  return parse(expression).hourStep !== null
}

/**
 * The expected instants of an interval (hour `*` or a step of it) in (from, to]: walks real time minute by minute with a
 * stopwatch that restarts whenever the local date advances, and matches the fields against the stopwatch.
 */
export function expectedInterval(expression: string, zone: Around, from: number, to: number): number[] {
  const fields = parse(expression)
  const found: number[] = []
  let stopwatch: number | null = null
  let dateBefore: number | null = null
  for (let at = Math.floor((from - 3 * 86_400) / 60) * 60; at <= to; at += 60) {
    const date = Math.floor((at + offsetAt(at, zone)) / 86_400)
    if (dateBefore !== null && date > dateBefore) stopwatch = 0
    else if (stopwatch !== null) stopwatch += 60
    dateBefore = date
    if (stopwatch === null || at < from - 60 || !fields.day(date)) continue
    if (Math.floor(stopwatch / 3600) % fields.hourStep! !== 0 || !fields.minute((stopwatch / 60) % 60))
      continue
    for (let second = 0; second < 60; second++) {
      if (fields.second(second) && at + second > from && at + second <= to) found.push(at + second)
    }
  }
  return found
}

const parsed = new Map<string, Fields>()

/** Parses the basic forms of cron: numbers, `*`, lists, ranges and steps. */
function parse(expression: string): Fields {
  const known = parsed.get(expression)
  if (known !== undefined) return known
  const parts = expression.split(' ')
  if (parts.length === 5) parts.unshift('0')
  const [second, minute, hour, day, month, weekday] = parts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const [days, months, weekdays] = [field(day, 1, 31), field(month, 1, 12), field(weekday, 0, 6)]
  const isDay = (number: number): boolean => {
    const date = new Date(number * 86_400_000)
    if (!months(date.getUTCMonth() + 1)) return false
    const [byDay, byWeekday] = [days(date.getUTCDate()), weekdays(date.getUTCDay())]
    // As in Vixie cron: if both are set, either may match.
    if (day !== '*' && weekday !== '*') return byDay || byWeekday
    return byDay && byWeekday
  }
  const step = /^\*(?:\/(\d+))?$/.exec(hour)
  const fields: Fields = {
    second: field(second, 0, 59),
    minute: field(minute, 0, 59),
    hour: field(hour, 0, 23),
    day: remembered(isDay),
    hourStep: step === null ? null : Number(step[1] ?? 1),
  }
  parsed.set(expression, fields)
  return fields
}

function remembered(isDay: (day: number) => boolean): (day: number) => boolean {
  const known = new Map<number, boolean>()
  return (day) => {
    const answer = known.get(day) ?? isDay(day)
    known.set(day, answer)
    return answer
  }
}

function field(text: string, min: number, max: number): (value: number) => boolean {
  const values: boolean[] = []
  for (const item of text.split(',')) {
    const [range, step = '1'] = item.split('/') as [string, string?]
    const [low, high = low] = range === '*' ? [min, max] : range.split('-').map(Number)
    for (let value = low!; value <= high!; value += Number(step)) values[value] = true
  }
  return (value) => values[value] === true
}
