import { WakefulError } from '../../src/error.ts'
import { compileRrule } from '../../src/time/rrule/rrule.ts'
import type { Random } from '../random.ts'
import { enumerate } from './rrule-brute.ts'
import { addDates, randomSpec, textOf } from './rrule-random.ts'

/** The result of comparing one recurrence with brute force. */
export interface Comparison {
  text: string
  /** How many instances were the same. */
  instances: number
  refused: boolean
  /** The difference; null if there is none. */
  mismatch: string | null
}

const YEARS_50 = 50 * 365.25 * 86_400_000
const CANDIDATES_MAX = 30_000
const PROBES = 20

/** Compares a random recurrence with brute force: its instances over 50 years, and `next` from random times. */
export function compareOne(random: Random): Comparison {
  const spec = randomSpec(random)
  const bare = enumerate(spec, spec.start + YEARS_50, CANDIDATES_MAX)
  addDates(spec, bare.instances, random)
  const text = textOf(spec, random)
  const dated = spec.added.length + spec.removed.length > 0
  const { instances, end } = dated ? enumerate(spec, spec.start + YEARS_50, CANDIDATES_MAX) : bare
  const result = (refused: boolean, mismatch: string | null) => ({
    text,
    instances: instances.length,
    refused,
    mismatch,
  })
  let rule: ReturnType<typeof compileRrule>
  try {
    rule = compileRrule(text, { timezone: 'UTC', anchor: 0 })
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    // A rule with RDATEs may be refused if its RRULE has no instance.
    const none = bare.instances.length === 0 || instances.length === 0
    return result(true, none ? null : `refused: ${thrown.message}`)
  }
  const first = Math.min(spec.start, instances[0] ?? spec.start)
  let at = first - 1
  for (const [index, expected] of instances.entries()) {
    const found = rule.wallTimes.next(at)
    if (found !== expected) return result(false, `#${index}: ${show(found)}, not ${show(expected)}`)
    at = expected
  }
  const beyond = rule.wallTimes.next(at)
  if (beyond !== null && beyond < end) return result(false, `after the last: ${show(beyond)}`)
  for (let probe = 0; probe < PROBES; probe++) {
    const from = first - 1000 + random.between(0, (end - first) / 1000) * 1000 + random.between(-1, 1)
    const expected = instances[placeOf(instances, from + 1)] ?? null
    const found = rule.wallTimes.next(from)
    const same = expected === null ? found === null || found >= end : found === expected
    if (!same) return result(false, `after ${show(from)}: ${show(found)}, not ${show(expected)}`)
    const to = Math.min(end, from + random.between(0, (end - first) / 1000) * 1000)
    const counted = rule.wallTimes.count!(from, to)
    const really = Math.max(0, placeOf(instances, to) - placeOf(instances, from))
    if (counted !== really) {
      return result(false, `${counted} in [${show(from)}, ${show(to)}), not ${really}`)
    }
  }
  return result(false, null)
}

/** How many are before this time. */
function placeOf(instances: readonly number[], at: number): number {
  let [low, high] = [0, instances.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (instances[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}

function show(at: number | null): string {
  return at === null ? 'none' : new Date(at).toISOString()
}
