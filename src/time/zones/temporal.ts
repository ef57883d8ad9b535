import { Temporal } from 'temporal-polyfill'

/** Temporal: the runtime's own, or the polyfill's if there is none (Node 24). */
export const temporal = Temporal

/** The instant as a Temporal.ZonedDateTime of the zone. */
export function zoned(zone: string, instant: number): Temporal.ZonedDateTime {
  return temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
}

/** The wall time that is these milliseconds in UTC. */
export function plainTime(wall: number): Temporal.PlainDateTime {
  return zoned('UTC', wall).toPlainDateTime()
}
