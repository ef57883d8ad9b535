import { WakefulError } from '../../error.ts'
import { pad2 } from '../text/index.ts'

/** A time of day in a phrase. */
export interface ParsedTime {
  hour: number
  minute: number
  second: number
  midnight?: true
  note?: string
}

const CLOCK = /^(\d{1,2})(?:[:.](\d\d)(?::(\d\d))?)?([ap]m)?$/

/** Parses a word as a time of day; null if it is none. A bare '5' is ambiguous (5am or 5pm) and refused. */
export function readTimeWord(word: string, isAfterAt: boolean, isTonight = false): ParsedTime | null {
  if (word === 'noon' || word === 'midday') return { hour: 12, minute: 0, second: 0 }
  if (word === 'midnight') return { hour: 0, minute: 0, second: 0, midnight: true }
  const match = CLOCK.exec(word)
  if (match === null) return null
  const hour = Number(match[1])
  const minute = Number(match[2] ?? 0)
  const second = Number(match[3] ?? 0)
  const half = match[4]
  const bare = match[2] === undefined && half === undefined
  if (bare && !isAfterAt) return null
  if (half !== undefined) {
    if (hour < 1 || hour > 12) throw noSuchTime(word)
    return checked(word, { hour: (hour % 12) + (half === 'pm' ? 12 : 0), minute, second })
  }
  if (isTonight && hour >= 5 && hour <= 11) {
    return checked(word, { hour: hour + 12, minute, second, note: `'${word}' tonight is read as ${hour}pm` })
  }
  if (bare && hour >= 1 && hour <= 12) {
    const [am, pm] = [`${pad2(hour % 12)}:00`, `${(hour % 12) + 12}:00`]
    throw new WakefulError('phrase.ambiguous_hour', { word, hour, am, pm })
  }
  const time: ParsedTime = { hour, minute, second }
  // '9:00' is a 24-hour time, but without the leading zero it may be meant as 9pm: a note says how it is read.
  if (hour >= 1 && hour <= 12 && match[1]!.length === 1)
    time.note = `'${word}' is read on the 24-hour clock: ${pad2(hour)}:${pad2(minute)}`
  return checked(word, time)
}

function checked(word: string, time: ParsedTime): ParsedTime {
  if (time.hour > 23 || time.minute > 59 || time.second > 59) throw noSuchTime(word)
  return time
}

function noSuchTime(word: string): Error {
  return new WakefulError('phrase.no_such_time', { word })
}
