import { instantOfWall, type NextWall, stretchAt } from '../zones/index.ts'
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
  if (rule.kind === 'once') return rule.wall === undefined ? null : stretchAt(rule.timezone, at).offset
  return intervalOf(rule) === null ? stretchAt(rule.timezone, at).offset : null
}

/**
 * Where an instant of the rule lies by the zone's data of today, when it was placed under this offset: at the same
 * wall time, by the rule's own policy. Rules that keep their real spacing stay where they are, or go on from there.
 */
export function rezone(rule: Rule, at: number, offset: number): number {
  const { timezone } = rule
  if (stretchAt(timezone, at).offset === offset) return at
  if (rule.kind === 'once') {
    return rule.wall === undefined ? at : (instantOfWall(timezone, rule.wall, 'first') ?? at)
  }
  const { nextWall, interval } = instantsOf(rule)
  if (nextWall === undefined) return at
  const schedule = scheduleOf(rule)
  if (interval) return schedule.next(at - 1) ?? at
  const placed = instantOfWall(timezone, writtenWall(nextWall, at + offset), 'first')
  return (placed === null ? null : schedule.next(placed - 1)) ?? at
}

/** The wall time as the rule writes it: the one shown, or the newest before it, which a gap had moved forward. */
function writtenWall(nextWall: NextWall, shown: number): number {
  let written: number | null = null
  let wall = nextWall(shown - 1) === shown ? shown : nextWall(shown - GAP_MS_MAX)
  for (let walls = 0; wall !== null && wall <= shown && walls < WALLS_MAX; walls++) {
    written = wall
    wall = nextWall(wall)
  }
  return written ?? shown
}
