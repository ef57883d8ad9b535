/** The candidate with the smallest edit distance to `wanted`; null if all are further than `distanceMax`. */
export function closest(wanted: string, candidates: Iterable<string>, distanceMax = 2): string | null {
  let best: string | null = null
  let bestDistance = distanceMax + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate, bestDistance)
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** The Levenshtein distance; `limit` if it is that or more. */
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
