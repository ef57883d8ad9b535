import type { Exclusion } from './exclusion.ts'

const NAMES = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

/** What days off do to a rule, in words: ", except on us-holidays and at weekends". */
export function describeExclusion({ calendars = [], weekend, move, offset = 0 }: Exclusion): string {
  if (move === undefined) {
    if (!isUsual(weekend)) return `, except on ${joinWithAnd([...calendars, ...(weekend ?? []).map(plural)])}`
    return `, except ${calendars.length === 0 ? '' : `on ${calendars.join(', ')} and `}at weekends`
  }
  const off = [...calendars, ...(isUsual(weekend) ? ['weekends'] : (weekend ?? []).map(plural))]
  const further = offset === 0 ? '' : offset > 0 ? ` and ${offset} more` : ` and ${-offset} back`
  return `, moved to the ${move} working day${further} (${off.join(', ')})`
}

/** Names as they stand in a sentence: 'a, b and c'. */
export function joinWithAnd(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

function isUsual(weekend: readonly number[] | undefined): boolean {
  return weekend?.join() === '6,7'
}

function plural(weekday: number): string {
  return `${NAMES[weekday - 1]}s`
}
