const kept = new Map<string, Map<number, readonly number[]>>()
let numbersKept = 0
let listsKept = 0

/** What all lists together may hold, a few megabytes, whatever rules there are. */
const NUMBERS_MAX = 500_000
const LISTS_MAX = 10_000

/**
 * The list found for a rule's limits and a step, kept for all that need it again: some have thousands of numbers.
 * The two are not joined into one key, because this is asked for every day of a search.
 */
export function cachedNumbers(
  limits: string,
  step: number,
  find: () => readonly number[],
): readonly number[] {
  const known = kept.get(limits)?.get(step)
  if (known !== undefined) return known
  const found = find()
  if (listsKept >= LISTS_MAX || numbersKept + found.length > NUMBERS_MAX) {
    kept.clear()
    numbersKept = 0
    listsKept = 0
  }
  const group = kept.get(limits) ?? new Map<number, readonly number[]>()
  kept.set(limits, group.set(step, found))
  numbersKept += found.length
  listsKept++
  return found
}
