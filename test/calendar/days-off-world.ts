import type { Random } from '../random.ts'
import { readZone } from './tzif.ts'

/**
 * The slow way to days off: every day is looked at, every wall time placed by the zone's file. It shares no code with
 * src/time. Days are counted from 1970-01-01, times in seconds.
 */
export const DAY_S = 86_400
const ZONES = [
  'America/New_York',
  'America/St_Johns',
  'America/Santiago',
  'Asia/Tokyo',
  'Australia/Lord_Howe',
  'Europe/Rome',
]
const UNTIL_YEAR = 2032
const SINCE_S = Date.UTC(2023, 0, 1) / 1000

/** A tick as it is written: its day, and the second of the day. */
export interface Tick {
  day: number
  second: number
}

/** A zone, by which wall times become instants. */
export interface SlowZone {
  name: string
  offsetAt(second: number): number
  /** The instant of a wall time: the first or last of two; one that does not exist moves by the length of the gap. */
  place(wall: number, last: boolean): number
}

const known = new Map<string, SlowZone>()

/** UTC, or a zone with clock changes. */
export function randomZone(random: Random): SlowZone {
  if (random.chance(0.4)) return { name: 'UTC', offsetAt: () => 0, place: (wall) => wall }
  const name = ZONES[random.between(0, ZONES.length - 1)]!
  const zone = known.get(name) ?? slowZone(name)
  known.set(name, zone)
  return zone
}

function slowZone(name: string): SlowZone {
  const { first, transitions } = readZone(name, UNTIL_YEAR)
  // The rules of the test are from 2024 on: what was before is not gone through.
  const late = transitions.filter(({ at }) => at > SINCE_S)
  const before = transitions.filter(({ at }) => at <= SINCE_S).at(-1)?.after ?? first
  const offsetAt = (second: number) => {
    let offset = before
    for (const { at, after } of late) {
      if (at > second) break
      offset = after
    }
    return offset
  }
  const offsets = [...new Set([before, ...late.map(({ after }) => after)])]
  return {
    name,
    offsetAt,
    place(wall, last) {
      const shown = offsets
        .map((offset) => wall - offset)
        .filter((at) => offsetAt(at) === wall - at)
        .sort((a, b) => a - b)
      if (shown.length > 0) return last ? shown.at(-1)! : shown[0]!
      // In a gap: as if the clock had not gone forward yet, which is the smaller offset.
      return wall - Math.min(...offsets)
    },
  }
}

/** Monday is 1. */
export function weekdayOf(day: number): number {
  return new Date(day * DAY_S * 1000).getUTCDay() || 7
}

/** Days off: a test of each day, and the working day reached from one. */
export interface SlowDaysOff {
  isOff(day: number): boolean
  landing(day: number, move: 'next' | 'previous', offset: number): number
}

/** Days off by looking at each day. */
export function slowDaysOff(weekend: readonly number[], dates: ReadonlySet<number>): SlowDaysOff {
  const isOff = (day: number) => weekend.includes(weekdayOf(day)) || dates.has(day)
  return {
    isOff,
    landing(from, move, offset) {
      let day = from
      while (isOff(day)) day += move === 'next' ? 1 : -1
      for (let left = Math.abs(offset); left > 0; ) {
        day += Math.sign(offset)
        if (!isOff(day)) left--
      }
      return day
    },
  }
}
