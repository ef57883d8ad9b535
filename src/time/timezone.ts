import { WakefulError } from '../error.ts'
import { temporal } from './temporal.ts'
import { quote } from './text.ts'

const known = new Map<string, string>()
const KNOWN_MAX = 2000

/** Returns the IANA zone in its usual spelling (links such as Asia/Calcutta stay as given), or refuses it. */
export function assertTimezone(zone: string): string {
  if (typeof zone !== 'string' || zone === '') {
    throw new WakefulError('invalid_timezone', "a timezone is an IANA name such as 'Europe/Rome' or 'UTC'")
  }
  const cached = known.get(zone)
  if (cached !== undefined) return cached
  if (/^[+-]\d/.test(zone)) {
    throw new WakefulError(
      'invalid_timezone',
      `${quote(zone)} is an offset, which knows no summer time: give an IANA name such as 'Europe/Rome' or 'UTC'`,
    )
  }
  const usual = lookUp(zone)
  if (usual === null) throw unknownZone(zone)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(zone, usual)
  return usual
}

function lookUp(zone: string): string | null {
  // Only the letters of IANA names: Temporal would also take a whole ISO string with a zone in it.
  if (zone.length > 64 || !/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(zone)) return null
  try {
    return temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId
  } catch {
    return null
  }
}

function unknownZone(zone: string): WakefulError {
  const close = zone.length <= 64 ? closest(zone) : null
  const hint = close === null ? "use an IANA name such as 'Europe/Rome' or 'UTC'" : `did you mean '${close}'?`
  return new WakefulError('invalid_timezone', `${quote(zone)} is not a timezone: ${hint}`)
}

function closest(zone: string): string | null {
  const wanted = zone.trim().toLowerCase().replaceAll(' ', '_')
  let best: string | null = null
  let bestDistance = 3
  for (const candidate of ['UTC', ...Intl.supportedValuesOf('timeZone')]) {
    const name = candidate.toLowerCase()
    const distance =
      name.slice(name.lastIndexOf('/') + 1) === wanted.slice(wanted.lastIndexOf('/') + 1)
        ? 0
        : editDistance(wanted, name, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
