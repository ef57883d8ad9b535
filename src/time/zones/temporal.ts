/**
 * Temporal: the runtime's own, or the polyfill if there is none (Node 24).
 * The polyfill is imported dynamically, so that other runtimes do not load it.
 */
export const temporal: typeof Temporal =
  (globalThis as { Temporal?: typeof Temporal }).Temporal ??
  ((await import('temporal-polyfill')).Temporal as unknown as typeof Temporal)

/** The instant as a Temporal.ZonedDateTime of the zone. */
export function zoned(zone: string, instant: number): Temporal.ZonedDateTime {
  return temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
}

/** The wall time that is these milliseconds in UTC. */
export function plainTime(wall: number): Temporal.PlainDateTime {
  return zoned('UTC', wall).toPlainDateTime()
}
