const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const
const DAYS_PER_YEAR = 365.25

/** A span of time for people, in its two largest units: `2d 4h`, `2d 42m`, `1m 30s`, `250ms`; of years, whole ones. */
export function humanizeDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  const years = Math.floor(ms / (86_400_000 * DAYS_PER_YEAR))
  if (years >= 2) return `${years}y`
  // What is hours away is not told to the second.
  const finest = ms < 3_599_500 ? 1000 : 60_000
  return twoUnits(Math.round(ms / finest) * finest)
}

function twoUnits(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [name, size] of UNITS) {
    // The second unit told takes in what is finer.
    const count = parts.length === 0 ? Math.floor(left / size) : Math.round(left / size)
    if (count === 0 || (parts.length > 0 && left < size)) continue
    parts.push(`${count}${name}`)
    if (parts.length === 2) break
    left -= count * size
  }
  return parts.join(' ')
}
