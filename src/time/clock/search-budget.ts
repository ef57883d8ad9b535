/** What searches of the calendar have looked at so far, in all. Only differences count: what one search took. */
let done = 0

/** Notes work: 1 for each stretch of the calendar that was looked at, more where that takes more. */
export function recordSearchWork(amount: number): void {
  done += amount
}

/**
 * Starts to measure: answers how much was looked at since. The same search always takes the same, on any machine, so
 * that to give up after so much of it is part of what a rule means.
 */
export function measureSearchWork(): () => number {
  const began = done
  return () => done - began
}
