import { formatDuration, parseDuration } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'
import { Bogus } from './checks.ts'
import { pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

/** Units in nanoseconds. */
const UNITS: readonly (readonly [pattern: RegExp, ns: bigint])[] = [
  [/^(?:w|weeks?)$/i, 604_800_000_000_000n],
  [/^(?:d|days?)$/i, 86_400_000_000_000n],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000_000_000n],
  [/^(?:m|mins?|minutes?)$/i, 60_000_000_000n],
  [/^(?:s|secs?|seconds?)$/i, 1_000_000_000n],
  [/^(?:ms|milliseconds?)$/i, 1_000_000n],
]

function number(random: Random): string {
  const whole = random.chance(0.95) ? random.between(0, 99) : random.between(0, 10 ** random.between(3, 15))
  return random.chance(0.85) ? `${whole}` : `${whole}.${random.between(0, 10 ** random.between(1, 9))}`
}

function iso(random: Random): string {
  const some = (letters: string) =>
    [...letters].flatMap((letter) => (random.chance(0.5) ? [number(random) + letter] : [])).join('')
  const [days, times] = [some('WD'), some('HMS')]
  return `P${days}${times === '' ? '' : `T${times}`}`
}

/** Durations in letters, words and ISO. */
export const DURATION: Language = {
  valid(random) {
    if (random.chance(0.25)) return iso(random)
    const words = random.chance(0.4)
    const units = words
      ? ['weeks', 'day', 'hours', 'min', 'secs', 'milliseconds']
      : ['w', 'd', 'h', 'm', 's', 'ms']
    const chosen = units.filter(() => random.chance(0.3))
    const parts = (chosen.length === 0 ? [pick(random, units)] : chosen).map(
      (unit) => `${number(random)}${words ? ' ' : ''}${unit}`,
    )
    return parts.join(words ? pick(random, [' ', ', ']) : pick(random, ['', ' ']))
  },
  pieces:
    '1 0 90 1.5 .5 5. 0.000000001 999999999999999999 -1 +2 w d h m s ms week days hr minutes sec y mo months P PT T PT5M P1W P1Y 1e3 , and 1h 30m'.split(
      ' ',
    ),
}

/** The length of an accepted duration, summed in integers and rounded up to a millisecond. */
function addedUp(text: string): number {
  let ns = 0n
  let rest = 0n
  const parts = /^\s*p/i.test(text) ? text.replace(/[pt]/gi, ' ') : text
  for (const [, whole, fraction, unit] of parts.matchAll(/(\d+)(?:[.,](\d+))? ?([a-z]+)/gi)) {
    const found = UNITS.find(([pattern]) => pattern.test(unit!))
    if (found === undefined) throw new Bogus(`'${unit}' is no unit`)
    ns += BigInt(whole!) * found[1]
    rest += BigInt((fraction ?? '').padEnd(9, '0')) * found[1]
  }
  const total = ns * 10n ** 9n + rest
  const ms = 10n ** 15n
  return Number(total / ms + (total % ms === 0n ? 0n : 1n))
}

/** The parser of durations. */
export const duration: Subject<string, number> = {
  name: 'duration',
  make: (random) => textFrom(random, DURATION),
  read: (text) => parseDuration(text),
  check(text, ms) {
    if (!Number.isSafeInteger(ms) || ms < 0) throw new Bogus(`${ms} is no length`)
    if (ms !== addedUp(text)) throw new Bogus(`${ms} ms, and by hand ${addedUp(text)}`)
    if (parseDuration(formatDuration(ms)) !== ms) throw new Bogus(`${ms} is shown as ${formatDuration(ms)}`)
  },
}
