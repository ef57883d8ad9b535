import { WakefulError } from '../../error.ts'
import { closest, quote } from '../text/index.ts'
import { temporal } from './temporal.ts'

export { assertInstant, INSTANT_MAX, INSTANT_MIN } from '../durations/index.ts'

const formatted = new Map<number, string>()
const FORMATTED_MAX = 32

/** The instant as ISO 8601 in UTC, with milliseconds. */
export function formatInstant(ms: number): string {
  // Cached, because the records of a batch repeat the same few instants a thousand times.
  const cached = formatted.get(ms)
  if (cached !== undefined) return cached
  const text = new Date(ms).toISOString()
  if (formatted.size >= FORMATTED_MAX) formatted.clear()
  formatted.set(ms, text)
  return text
}

const zones = new Map<string, string>()
const ZONES_MAX = 2000

/** Returns the zone of a field `timezone` in its canonical case, or refuses it. */
export function assertTimezone(zone: string): string {
  return knownTimezone(zone, 'timezone')
}

/** Returns the IANA zone in its canonical case (links such as Asia/Calcutta are not resolved), or refuses it. */
export function knownTimezone(zone: string, field?: string): string {
  if (typeof zone !== 'string' || zone === '') {
    throw new WakefulError(
      'field.malformed',
      { expected: "an IANA name such as 'Europe/Rome' or 'UTC'" },
      { code: 'invalid_timezone', field },
    )
  }
  const cached = zones.get(zone)
  if (cached !== undefined) return cached
  if (/^[+-]\d/.test(zone)) throw new WakefulError('timezone.offset', { zone: quote(zone) }, { field })
  const canonical = lookUp(zone)
  if (canonical === null) {
    const near = zone.length <= 64 ? similarZone(zone) : null
    throw new WakefulError('timezone.unknown', { zone: quote(zone), near }, { field })
  }
  if (zones.size >= ZONES_MAX) zones.clear()
  zones.set(zone, canonical)
  return canonical
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
const LEGACY_ZONES: ReadonlyMap<string, string> = new Map([
  ['EST', 'EST has no daylight saving time. Use America/New_York to follow it'],
  ['MST', 'MST has no daylight saving time. Use America/Denver to follow it'],
  ['HST', 'HST is an old name for Pacific/Honolulu'],
  ['EST5EDT', 'EST5EDT is an old name for America/New_York'],
  ['CST6CDT', 'CST6CDT is an old name for America/Chicago'],
  ['MST7MDT', 'MST7MDT is an old name for America/Denver'],
  ['PST8PDT', 'PST8PDT is an old name for America/Los_Angeles'],
])

/** A note about a zone without daylight saving time or with a legacy name; null for all others. */
export function zoneNote(zone: string): string | null {
  const legacy = LEGACY_ZONES.get(zone)
  if (legacy !== undefined) return legacy
  return zone.startsWith('Etc/GMT') && /[1-9]/.test(zone)
    ? `${zone} is a fixed offset without daylight saving time. Use the zone of a city, if there is one`
    : null
}

/** The zone with the same city, however it is spelled, or with a similar name. */
function similarZone(zone: string): string | null {
  const names = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const city = cityOf(zone)
  const byCity = names.find((name) => cityOf(name) === city)
  if (byCity !== undefined) return byCity
  const near = closest(
    zone.trim().toLowerCase().replaceAll(' ', '_'),
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
