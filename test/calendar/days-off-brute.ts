import type { Random } from '../random.ts'
import { readZone } from './tzif.ts'

/**
 * Days off by brute force: tests every day, and resolves every wall time by the zone's file. It shares no code with
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

/** A tick as written: its day, and the second of the day. */
export interface Tick {
  day: number
  second: number
}

/** A zone, which resolves wall times to instants. */
export interface BruteZone {
  name: string
  offsetAt(second: number): number
  /** The instant of a wall time: the first or last of two; one that does not exist shifts by the length of the gap. */
  instantOf(wall: number, last: boolean): number
}

const known = new Map<string, BruteZone>()

/** UTC, or a zone with clock changes. */
export function randomZone(random: Random): BruteZone {
  if (random.chance(0.4)) return { name: 'UTC', offsetAt: () => 0, instantOf: (wall) => wall }
  const name = ZONES[random.between(0, ZONES.length - 1)]!
  const zone = known.get(name) ?? bruteZone(name)
  known.set(name, zone)
  return zone
}

function bruteZone(name: string): BruteZone {
  const { first, transitions } = readZone(name, UNTIL_YEAR)
  // The rules of the test start in 2024, so earlier changes are left out.
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
    instantOf(wall, last) {
      const candidates = offsets
        .map((offset) => wall - offset)
        .filter((at) => offsetAt(at) === wall - at)
        .sort((a, b) => a - b)
      if (candidates.length > 0) return last ? candidates.at(-1)! : candidates[0]!
      // In a gap: as if the clock had not gone forward yet, with the smaller offset.
      return wall - Math.min(...offsets)
    },
  }
}

/** Monday is 1. */
export function weekdayOf(day: number): number {
  return new Date(day * DAY_S * 1000).getUTCDay() || 7
}

/** Days off: whether a day is off, and the working day to which a day moves. */
export interface BruteDaysOff {
  isOff(day: number): boolean
  movedDay(day: number, move: 'next' | 'previous', offset: number): number
}

/** Days off by testing each day. */
export function bruteDaysOff(weekend: readonly number[], dates: ReadonlySet<number>): BruteDaysOff {
  const isOff = (day: number) => weekend.includes(weekdayOf(day)) || dates.has(day)
  return {
    isOff,
    movedDay(from, move, offset) {
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
