import { POLICIES } from '../calendar/expected.ts'
import type { Random } from '../random.ts'
import type { Misfire, Timing } from './timing.ts'

const MINUTE_MS = 60_000
/** After this time, a call without retries has been answered or never will be. */
const COUNTED_FROM_MS = 40_000
/** Time zones for which the runtime and the zone files agree. */
const ZONES = ['Europe/Rome', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tokyo', 'Africa/Cairo', 'UTC']

/** The period of a run, and how often its alarms are due. */
export interface Span {
  readonly calmMs: number
  readonly endMs: number
  /** A time at which many alarms are due at once. */
  readonly burstMs: number
  readonly tickMsMin: number
  readonly tickMsMax: number
}

/** Draws when an alarm that is set at `fromMs` is due. */
export function drawTiming(random: Random, fromMs: number, span: Span, isOnce: boolean): Timing {
  const misfire = random.weighted<Misfire>([[2, 'all'], [2, 'once'], [1, 'skip']]) // biome-ignore format: a table
  const kind = random.weighted([[1, 'once'], [3, 'every'], [span.tickMsMin > MINUTE_MS ? 6 : 1, 'cron']] as const) // biome-ignore format: a table
  if (isOnce || kind === 'once') {
    const atMs = fromMs + random.between(-1_000, (span.calmMs - fromMs) * 0.9)
    return { kind: 'once', atMs: random.chance(0.3) && span.burstMs > fromMs ? span.burstMs : atMs }
  }
  if (kind === 'cron') return drawCron(random, misfire, span)
  const everyMs = random.between(span.tickMsMin, span.tickMsMax)
  // A count includes only future instants, so none may pass before the alarm is set.
  if (random.chance(0.2) && fromMs + COUNTED_FROM_MS < span.calmMs)
    return { kind, startMs: fromMs + COUNTED_FROM_MS, everyMs, count: random.between(1, 5), misfire }
  return { kind, startMs: fromMs + random.between(-2 * everyMs, everyMs), everyMs, misfire }
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

function drawCron(random: Random, misfire: Misfire, span: Span): Timing {
  const dst = POLICIES[random.between(0, POLICIES.length - 1)]!
  const timezone = ZONES[random.between(0, ZONES.length - 1)]!
  const rest = { kind: 'cron', timezone, dst, misfire } as const
  if (span.tickMsMin < MINUTE_MS) return { ...rest, cron: `*/${random.between(4, 30)} * * * * *` }
  const [minute, hour, weekday] = [random.between(0, 59), random.between(0, 3), random.between(0, 6)]
  return random.weighted<Timing>([
    [2, { ...rest, cron: `${minute} ${hour} * * *` }],
    [1, { ...rest, cron: `${minute} */${random.between(1, 12)} * * *` }],
    [1, { ...rest, cron: `0,30 ${hour} ${random.between(1, 28)} * ${weekday}` }],
    [
      2,
      {
        ...rest,
        cron: `${minute} ${hour} * * ${weekday}`,
        rrule: `FREQ=WEEKLY;BYDAY=${WEEKDAYS[weekday]};BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=0`,
      },
    ],
  ])
}

/** A time after `fromMs`: often a few milliseconds around an instant of the alarm. */
export function drawMoment(random: Random, fromMs: number, timing: Timing, span: Span): number {
  const latest = Math.max(fromMs, span.calmMs)
  const anyMs = random.between(fromMs, fromMs + (latest - fromMs) / 2)
  if (timing.kind === 'cron' || random.chance(0.3)) return anyMs
  const period = timing.kind === 'every' ? timing.everyMs : 0
  const firstMs = timing.kind === 'every' ? timing.startMs : timing.atMs
  const ticks = period === 0 ? 0 : Math.ceil((fromMs - firstMs) / period) + random.between(0, 3)
  const instant = firstMs + Math.max(0, ticks) * period
  return Math.max(fromMs, instant + random.weighted([[2, random.between(-8, 3)], [2, random.between(0, 60)], [1, random.between(60, 600)]])) // biome-ignore format: a table
}
