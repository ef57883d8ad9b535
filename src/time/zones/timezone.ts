import { WakefulError } from '../../error.ts'
import { closest, quote } from '../text/index.ts'
import { temporal } from './temporal.ts'

const known = new Map<string, string>()
const KNOWN_MAX = 2000

/** Returns the IANA zone in its canonical case (links such as Asia/Calcutta are not resolved), or refuses it. */
export function assertTimezone(zone: string): string {
  if (typeof zone !== 'string' || zone === '') {
    throw new WakefulError(
      'field.malformed',
      { expected: "an IANA name such as 'Europe/Rome' or 'UTC'" },
      { field: 'timezone', code: 'invalid_timezone' },
    )
  }
  const cached = known.get(zone)
  if (cached !== undefined) return cached
  if (/^[+-]\d/.test(zone)) {
    throw new WakefulError('timezone.offset', { zone: quote(zone) })
  }
  const usual = lookUp(zone)
  if (usual === null) throw unknownZone(zone)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(zone, usual)
  return usual
}

function lookUp(zone: string): string | null {
  // Only characters of IANA names, because Temporal would also accept an ISO string with a zone in it.
  if (zone.length > 64 || !/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(zone)) return null
  try {
    return temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId
  } catch {
    return null
  }
}

/** Legacy zone names, and the note about each. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ['EST', 'EST knows no summer time: America/New_York does'],
  ['MST', 'MST knows no summer time: America/Denver does'],
  ['HST', 'HST is an old name: Pacific/Honolulu is the same'],
  ['EST5EDT', 'EST5EDT is an old name: America/New_York is the same'],
  ['CST6CDT', 'CST6CDT is an old name: America/Chicago is the same'],
  ['MST7MDT', 'MST7MDT is an old name: America/Denver is the same'],
  ['PST8PDT', 'PST8PDT is an old name: America/Los_Angeles is the same'],
])

/** A note about a zone without summer time or with a legacy name; null for all others. */
export function zoneNote(zone: string): string | null {
  const old = OLD_NAMES.get(zone)
  if (old !== undefined) return old
  return zone.startsWith('Etc/GMT') && /[1-9]/.test(zone)
    ? `${zone} is a fixed offset, and knows no summer time: name a city's zone where there is one`
    : null
}

function unknownZone(zone: string): WakefulError {
  const near = zone.length <= 64 ? guess(zone) : null
  return new WakefulError('timezone.unknown', { zone: quote(zone), near })
}

/** The zone with this city, with or without spaces, or with a similar name. */
function guess(zone: string): string | null {
  const names = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const [wanted, city] = [zone.trim().toLowerCase().replaceAll(' ', '_'), cityOf(zone)]
  const byCity = names.find((name) => cityOf(name) === city)
  if (byCity !== undefined) return byCity
  const near = closest(
    wanted,
    names.map((name) => name.toLowerCase()),
  )
  return names.find((name) => name.toLowerCase() === near) ?? null
}

function cityOf(zone: string): string {
  return zone
    .slice(zone.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
}
