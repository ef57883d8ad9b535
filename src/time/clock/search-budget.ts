/** Calendar positions that all searches have visited so far. Only differences matter: the cost of one search. */
let total = 0

/** Adds to the work of the current searches: 1 for each year, month, week or day visited, more for costlier ones. */
export function recordSearchWork(amount: number): void {
  total += amount
}

/**
 * Starts to measure search work; the returned function gives the amount since. Searches stop at a limit of work and not
 * of time: the same search costs the same on every machine, so a rule means the same everywhere.
 */
export function measureSearchWork(): () => number {
  const start = total
  return () => total - start
}
