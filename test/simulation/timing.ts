import type { When } from '../../src/time/index.ts'
import {
  around,
  expectedInstants,
  expectedInterval,
  isInterval,
  type Policy,
  wallTimesOf,
} from '../calendar/expected.ts'
import { readZone, type Zone } from '../calendar/tzif.ts'

/** When an alarm is due, as data. Times are milliseconds since the world began. */
export type Timing =
  | { readonly kind: 'once'; readonly atMs: number }
  | {
      readonly kind: 'every'
      readonly startMs: number
      readonly everyMs: number
      readonly count?: number
      readonly misfire: Misfire
    }
  | {
      readonly kind: 'cron'
      /** An equivalent RRULE, used instead of `cron` if present. */
      readonly rrule?: string
      readonly cron: string
      readonly timezone: string
      readonly dst: Policy
      readonly misfire: Misfire
    }

export type Misfire = 'once' | 'skip' | 'all'

/** The `when` argument of the user's call. */
export function whenOf(timing: Timing, began: number): When {
  const { kind } = timing
  if (kind === 'once') return new Date(began + timing.atMs)
  const { misfire } = timing
  if (kind === 'every') {
    const { startMs, everyMs, count } = timing
    const start = new Date(began + startMs)
    return { every: `${everyMs}ms`, start, misfire, ...(count !== undefined && { count }) }
  }
  const { cron, rrule, timezone, dst } = timing
  return rrule === undefined ? { cron, timezone, dst, misfire } : { rrule, timezone, dst, misfire }
}

/**
 * Every due instant in (from, to], computed independently of src/time: intervals are counted, and wall times are looked
 * up in the zone file, minute by minute.
 */
export function instantsOf(timing: Timing, began: number, from: number, to: number): number[] {
  if (timing.kind === 'once') return [began + timing.atMs]
  if (timing.kind === 'cron') return cronInstants(timing, from, to)
  const { startMs, everyMs, count = Number.POSITIVE_INFINITY } = timing
  const start = began + startMs
  const first = Math.max(0, Math.floor((from - start) / everyMs) + 1)
  const instants: number[] = []
  for (let tick = first; tick < count && start + tick * everyMs <= to; tick++)
    instants.push(start + tick * everyMs)
  return instants
}

const zones = new Map<string, Zone>()
const YEAR_LAST = 2037

function cronInstants(
  { cron, timezone, dst }: Extract<Timing, { kind: 'cron' }>,
  from: number,
  to: number,
): number[] {
  const zone = zones.get(timezone) ?? readZone(timezone, YEAR_LAST)
  zones.set(timezone, zone)
  const DAY_S = 86_400
  const [first, last] = [Math.floor(from / 1_000), Math.floor(to / 1_000)]
  const near = around(zone, first - 2 * DAY_S, last + 2 * DAY_S)
  const seconds = isInterval(cron)
    ? expectedInterval(cron, near, first, last)
    : expectedInstants(wallTimesOf(cron, first - DAY_S, last + DAY_S), near, dst, first, last)
  return seconds.map((second) => second * 1_000)
}
