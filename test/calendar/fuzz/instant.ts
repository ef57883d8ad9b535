import { parseInstant } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'
import { assertInstant, Bogus, isDate } from './checks.ts'
import { localOf } from './local.ts'
import { pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

const two = (value: number) => String(value).padStart(2, '0')

/** A year, a month and a day; sometimes a day that does not exist. */
export function randomDay(random: Random): [year: string, month: string, day: string] {
  const year = random.chance(0.9) ? random.between(2024, 2032) : random.between(0, 9999)
  const month = random.chance(0.3)
    ? 2
    : random.between(random.chance(0.05) ? 0 : 1, random.chance(0.05) ? 13 : 12)
  const day = random.chance(0.4) ? random.between(27, 32) : random.between(0, 31)
  return [String(year).padStart(4, '0'), two(month), two(day)]
}

function clock(random: Random, colon: string): string {
  const most = random.chance(0.05) ? 1 : 0
  const parts = [random.between(0, 23 + most), random.between(0, 59 + most)]
  if (random.chance(0.7)) parts.push(random.between(0, 59 + most))
  const fraction =
    parts.length === 3 && random.chance(0.4)
      ? pick(random, ['.', ',']) + String(random.between(0, 10 ** random.between(1, 12)))
      : ''
  return parts.map(two).join(colon) + fraction
}

function offset(random: Random): string {
  const hours = two(random.between(0, random.chance(0.05) ? 25 : 14))
  const sign = pick(random, ['+', '-'])
  return random.weighted<() => string>([
    [5, () => 'Z'],
    [1, () => 'z'],
    [4, () => `${sign}${hours}:${pick(random, ['00', '30', '45', '60'])}`],
    [1, () => `${sign}${hours}${pick(random, ['', '30'])}`],
    [1, () => ''],
  ])()
}

/** Dates with a time and mostly an offset, in both forms of ISO 8601. */
export const ISO: Language = {
  valid(random) {
    const [year, month, day] = randomDay(random)
    if (random.chance(0.15)) return `${year}${month}${day}T${clock(random, '')}${offset(random)}`
    const zone = random.chance(0.1) ? `[${pick(random, ['UTC', 'Europe/Rome', 'Pacific/Apia'])}]` : ''
    return `${year}-${month}-${day}${pick(random, ['T', 'T', ' ', 't'])}${clock(random, ':')}${offset(random)}${zone}`
  },
  pieces:
    '2026-02-29 2026-02-28 2028-02-29 2026-04-31 T T18:00 18:00:60 24:00 T00:00:00.000Z Z +01:00 -00:00 +24:00 [Europe/Rome] [UTC] [u-ca=hebrew] 20260101T000000Z 12026-01-01 -000001 2026-W01-1 2026-366 . 999999999 +275760-09-13T00:00:00Z'.split(
      ' ',
    ),
}

const READ =
  /^(\d{4})-?(\d\d)-?(\d\d)[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?(?:\[(.*)\])?$/

/** Whether a text is a date with a time, and not a phrase. */
export function isIso(text: string): boolean {
  return READ.test(text.trim())
}

/** Checks an accepted ISO text independently: the day must exist, and the instant must match. */
export function assertIso(text: string, at: number, zoneBeside: string | null): void {
  const match = READ.exec(text.trim())
  if (match === null) throw new Bogus('it is no ISO time')
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0))
  if (!isDate(year!, month!, day!)) throw new Bogus('there is no such day')
  if (hour! > 23 || minute! > 59 || second! > 60) throw new Bogus('there is no such time')
  const fraction = match[7] ?? ''
  const up = /[1-9]/.test(fraction.slice(3)) ? 1 : 0
  const wall =
    Date.UTC(year!, month! - 1, day!, hour, minute, second) + Number(fraction.slice(0, 3).padEnd(3, '0')) + up
  const [offsetText, zone] = [match[8], match[9] ?? zoneBeside]
  if (offsetText !== undefined) {
    if (at !== wall - offsetMs(offsetText)) throw new Bogus(`${at} is not ${wall - offsetMs(offsetText)}`)
  } else if (zone === null) throw new Bogus('a wall time alone names no instant')
  else assertPlaced(at, wall, zone)
}

/** Whether the wall time does not exist because the clock skipped it, by at most a day. */
function assertPlaced(at: number, wall: number, zone: string): void {
  const ahead = localOf(zone, at) - wall
  if (ahead < 0 || ahead > 86_400_000) throw new Bogus(`in ${zone} that is ${ahead} ms away`)
}

function offsetMs(text: string): number {
  if (/z/i.test(text)) return 0
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(3).replace(':', ''))]
  if (hours > 23 || minutes > 59) throw new Bogus('there is no such offset')
  return (hours * 60 + minutes) * (text[0] === '-' ? -60_000 : 60_000)
}

/** The parser of instants. */
export const instant: Subject<string, number> = {
  name: 'instant',
  make: (random) => textFrom(random, ISO),
  read: (text) => parseInstant(text),
  check(text, at) {
    assertInstant(at)
    assertIso(text, at, null)
  },
}
