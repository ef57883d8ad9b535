import { instantOfWallTime, type NextWallTime, offsetPeriodAt } from '../zones/index.ts'
import type { Rule } from './rule.ts'
import { instantsOf, intervalOf, scheduleOf } from './schedule.ts'

/** The longest gap a clock ever made was a day, where a country crossed the date line. */
const GAP_MS_MAX = 25 * 3_600_000
const WALLS_MAX = 2_000

/**
 * The offset under which an instant of the rule was placed on the clock of its zone: kept beside the instant, it
 * tells later whether the zone's data has changed since. Null where the wall clock has no part in it.
 */
export function zoneOffsetOf(rule: Rule, at: number): number | null {
  if (rule.kind === 'once') return rule.wall === undefined ? null : offsetPeriodAt(rule.timezone, at).offset
  return intervalOf(rule) === null ? offsetPeriodAt(rule.timezone, at).offset : null
}

/**
 * Where an instant of the rule lies by the zone's data of today, when it was placed under this offset: at the same
 * wall time, by the rule's own policy. Rules that keep their real spacing stay where they are, or go on from there.
 */
export function applyZoneData(rule: Rule, at: number, offset: number): number {
  const { timezone } = rule
  if (offsetPeriodAt(timezone, at).offset === offset) return at
  if (rule.kind === 'once') {
    return rule.wall === undefined ? at : (instantOfWallTime(timezone, rule.wall, 'first') ?? at)
  }
  const { nextWallTime, interval } = instantsOf(rule)
  if (nextWallTime === undefined) return at
  const schedule = scheduleOf(rule)
  if (interval) return schedule.next(at - 1) ?? at
  const placed = instantOfWallTime(timezone, writtenWall(nextWallTime, at + offset), 'first')
  return (placed === null ? null : schedule.next(placed - 1)) ?? at
}

/** The wall time as the rule writes it: the one shown, or the newest before it, which a gap had moved forward. */
function writtenWall(nextWallTime: NextWallTime, shown: number): number {
  let written: number | null = null
  let wall = nextWallTime(shown - 1) === shown ? shown : nextWallTime(shown - GAP_MS_MAX)
  for (let wallTimes = 0; wall !== null && wall <= shown && wallTimes < WALLS_MAX; wallTimes++) {
    written = wall
    wall = nextWallTime(wall)
  }
  return written ?? shown
}
