import { Cron, CronPattern } from 'croner'
import { WakefulError } from '../error.ts'
import { parseDuration } from './duration.ts'
import { quote, TEXT_LENGTH_MAX } from './text.ts'
import { assertTimezone } from './timezone.ts'
import { type Stretch, stretchAt } from './wall-time.ts'

/** A cron expression taken apart: its own zone if it names one, and either an interval or calendar fields. */
export interface CronText {
  timezone?: string
  everyMs?: number
  fields: string
}

const NICKNAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const OPTIONS = { utcOffset: 0, mode: '5-or-6-parts' } as const
const DAY_MS = 86_400_000

/** Takes a cron expression apart: `CRON_TZ=Zone` in front, `@every 5m`, a nickname, or 5 or 6 fields. */
export function readCron(text: string): CronText {
  if (typeof text !== 'string' || text.length > TEXT_LENGTH_MAX) {
    throw new WakefulError('invalid_rule', "a cron expression is a short text such as '0 9 * * 1-5'")
  }
  const words = text.trim().split(/\s+/)
  const prefix = /^(?:CRON_)?TZ=(.+)$/.exec(words[0] ?? '')
  const zone = prefix === null ? {} : { timezone: assertTimezone(prefix[1]!) }
  if (prefix !== null) words.shift()
  const fields = words.join(' ')
  if (words[0]?.toLowerCase() === '@every') {
    return { ...zone, fields, everyMs: parseInterval(words.slice(1).join(' ')) }
  }
  const nickname = words.length === 1 && NICKNAMES.includes(fields.toLowerCase())
  if (!nickname && words.length !== 5 && words.length !== 6) {
    throw new WakefulError(
      'invalid_rule',
      `${quote(text)} is not a cron expression: give 5 fields (minute hour day month weekday), 6 with seconds in front, ${NICKNAMES.join(', ')} or '@every 5m'`,
    )
  }
  return { ...zone, fields }
}

/** Reads the interval of a recurring rule: at least a second, because more than one fire a second is refused. */
export function parseInterval(text: string): number {
  let ms: number
  try {
    ms = parseDuration(text)
  } catch (cause) {
    if (cause instanceof WakefulError) throw new WakefulError('invalid_rule', cause.message, { cause })
    throw cause
  }
  if (ms >= 1000) return ms
  throw new WakefulError(
    'invalid_rule',
    `${quote(text)} is under a second: a rule fires at most once a second`,
  )
}

/** Finds the instant of a cron expression that comes next after another; null when there is none. */
export type NextInstant = (after: number) => number | null

/**
 * Compiles calendar fields in a zone.
 *
 * croner is asked on the wall clock alone (as UTC), and clock changes are applied here, for its own treatment
 * differs from Wakeful's: a wall time inside a gap moves forward by the gap's length, lists and steps too; one
 * that occurs twice fires on the first, except where every hour is asked for, which means every hour that passes.
 */
export function compileCron(fields: string, zone: string): NextInstant {
  let cron: Cron
  let everyHour: boolean
  try {
    cron = new Cron(fields, OPTIONS)
    everyHour = new CronPattern(fields, undefined, OPTIONS).hour.every((hour) => hour === 1)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)
    throw new WakefulError('invalid_rule', `${quote(fields)} is not a cron expression: ${why}`, { cause })
  }
  const nextWall = (wall: number): number | null => {
    // Whatever the library answers, a rule never stands still (croner#286: it fired every millisecond).
    for (let from = wall, tries = 0; tries < 5; from += 1000, tries++) {
      const found = cron.nextRun(new Date(from))?.getTime() ?? null
      if (found === null || found > wall) return found
    }
    return null
  }
  return (after) => walk(nextWall, zone, everyHour, after)
}

function walk(nextWall: NextInstant, zone: string, everyHour: boolean, after: number): number | null {
  let from = after
  for (;;) {
    const stretch = stretchAt(zone, from + 1)
    const { start, end, offset, offsetBefore } = stretch
    // Wall times up to here were already shown by this zone's clocks before they went back.
    const repeatedUntil = start + offsetBefore - 1
    const seen = everyHour ? Number.NEGATIVE_INFINITY : repeatedUntil
    const wall = nextWall(Math.max(from + offset, offset < offsetBefore ? seen : Number.NEGATIVE_INFINITY))
    const regular = wall === null ? null : wall - offset
    const shifted = offset > offsetBefore ? nextInGap(nextWall, stretch, from) : null
    const earliest = regular === null || (shifted !== null && shifted < regular) ? shifted : regular
    if (earliest !== null && earliest < end) return earliest
    if (end === Number.POSITIVE_INFINITY || wall === null) return null
    // No instant before the change. Where the next wall time is far off, the changes on the way cannot matter.
    const near = wall - offset - 2 * DAY_MS
    from = end - from > 2 * DAY_MS && near > end ? near : end - 1
  }
}

/** The wall times a clock skipped when it went forward, moved by the length of the gap. */
function nextInGap(nextWall: NextInstant, stretch: Stretch, from: number): number | null {
  const gapStart = stretch.start + stretch.offsetBefore
  const gapEnd = stretch.start + stretch.offset
  const wall = nextWall(Math.max(gapStart - 1, from + stretch.offsetBefore))
  return wall !== null && wall < gapEnd ? wall - stretch.offsetBefore : null
}
