import { instantOfWallTime, type NextWallTime, offsetPeriodAt } from '../zones/index.ts'
import type { Rule } from './rule.ts'
import { instantsOf, intervalOf, scheduleOf } from './schedule.ts'

/** The longest gap so far was a day, when a country crossed the date line. */
const GAP_MS_MAX = 25 * 3_600_000
const WALL_TIMES_MAX = 2_000

/**
 * How much later than its scheduled instant an occurrence wakes: 0 to the rule's `jitterMs`, inclusive. It depends only
 * on the seed (the alarm's id) and the instant, so that every process and store computes the same after a restart.
 */
export function jitter(rule: Rule, seed: string, instant: number): number {
  if (rule.kind === 'once' || rule.jitterMs === undefined) return 0
  return hash(`${seed} ${instant}`) % (rule.jitterMs + 1)
}

/** When the occurrence of this scheduled instant wakes; it is still identified by the scheduled instant. */
export function wakeTime(rule: Rule, seed: string, scheduledFor: number): number {
  return scheduledFor + jitter(rule, seed, scheduledFor)
}

/**
 * The UTC offset with which an instant of the rule was computed. Stored with the instant, it shows later whether the
 * zone's data have changed. Null if the rule does not depend on the wall clock.
 */
export function zoneOffsetOf(rule: Rule, at: number): number | null {
  if (rule.kind === 'once') return rule.wall === undefined ? null : offsetPeriodAt(rule.timezone, at).offset
  return intervalOf(rule) === null ? offsetPeriodAt(rule.timezone, at).offset : null
}

/**
 * The instant by today's zone data of an instant that was computed with this offset: the same wall time, under the rule's
 * policy for clock changes. Fixed intervals stay where they are; other rules with real spacing continue from there.
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
  const placed = instantOfWallTime(timezone, writtenWallTime(nextWallTime, at + offset), 'first')
  return (placed === null ? null : schedule.next(placed - 1)) ?? at
}

/** The wall time as the rule writes it: the local one, or the newest before it, which a gap had shifted forward. */
function writtenWallTime(nextWallTime: NextWallTime, local: number): number {
  let written: number | null = null
  let wall = nextWallTime(local - 1) === local ? local : nextWallTime(local - GAP_MS_MAX)
  for (let count = 0; wall !== null && wall <= local && count < WALL_TIMES_MAX; count++) {
    written = wall
    wall = nextWallTime(wall)
  }
  return written ?? local
}

/** A 52-bit hash that spreads well over instants that differ in one digit: two lanes of multiply and xor, then mixed. */
function hash(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  return (mixed(high ^ low) & 0xfffff) * 2 ** 32 + mixed(Math.imul(low, 3) + high)
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit of the input. */
function mixed(bits: number): number {
  let word = bits
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
  return (word ^ (word >>> 16)) >>> 0
}
