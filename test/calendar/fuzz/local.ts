const formats = new Map<string, Intl.DateTimeFormat>()

/** The local time of an instant by Intl, as the epoch milliseconds it would be in UTC. */
export function localOf(zone: string, at: number): number {
  let format = formats.get(zone)
  if (format === undefined) {
    const numeric = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...numeric, ...clock })
    formats.set(zone, format)
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type)!
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return wall + (((at % 1000) + 1000) % 1000)
}
