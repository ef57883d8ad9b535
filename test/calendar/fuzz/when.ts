import type { When } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'
import { CRON } from './cron.ts'
import { DURATION } from './duration.ts'
import { STEP } from './every.ts'
import { ISO } from './instant.ts'
import { junk, TrapError } from './junk.ts'
import { ONCE } from './once-phrase.ts'
import { RECURRING } from './recurring-phrase.ts'
import { RRULE } from './rrule.ts'
import { assertRule, type ReadRule, readRule } from './rule.ts'
import { type FuzzContext, pick, type Subject } from './subject.ts'
import { textFrom } from './texts.ts'

type Fields = Record<string, unknown>

/** The field that says when. */
function kindOf(random: Random, text: typeof textFrom): Fields {
  return random.weighted<() => Fields>([
    [3, () => ({ cron: text(random, CRON) })],
    [3, () => ({ rrule: text(random, RRULE) })],
    [3, () => ({ every: text(random, STEP) })],
    [2, () => ({ at: text(random, pick(random, [ONCE, RECURRING, ISO])) })],
    [1, () => ({ delay: text(random, DURATION) })],
    [1, () => ({ unix: random.between(0, 5e9) + (random.chance(0.3) ? random.next() : 0) })],
  ])()
}

/** The options beside it. */
function optionsOf(random: Random, { now }: FuzzContext): Fields {
  const near = () => new Date(Math.min(Math.max(0, now + random.between(-1e11, 1e11)), 253_402_300_799_999))
  const all: Fields = {
    start: random.chance(0.5) ? near() : near().toISOString(),
    end: random.chance(0.5) ? near() : near().toISOString().slice(0, 16),
    count: random.between(1, 100),
    jitter: DURATION.valid(random),
    timezone: pick(random, ['Europe/Rome', 'utc', 'Asia/Kolkata', 'Mars/Base']),
    dst: { gap: pick(random, ['shift', 'skip']), overlap: pick(random, ['first', 'last', 'both', 'none']) },
    misfire: pick(random, ['once', 'skip', 'all', { all: { max: 5, within: '1h' } }, { all: {} }]),
  }
  return Object.fromEntries(Object.entries(all).filter(() => random.chance(0.15)))
}

/** A when as an object, often valid. */
export function soundWhen(random: Random, context: FuzzContext): Fields {
  return { ...kindOf(random, (chance, language) => language.valid(chance)), ...optionsOf(random, context) }
}

const FIELDS =
  'at unix delay cron every rrule timezone start end count jitter dst misfire exclude __proto__ constructor toString hasOwnProperty length then toJSON 0'.split(
    ' ',
  )

/** Sets a field, by value or as a getter, which sometimes returns different values or throws. */
function put(object: Fields, name: string, value: unknown, random: Random): void {
  const shape = { enumerable: random.chance(0.95), configurable: true }
  const other = junk(random)
  let asked = 0
  const getter = random.weighted<PropertyDescriptor>([
    [8, { ...shape, value, writable: true }],
    [1, { ...shape, get: () => value }],
    [0.3, { ...shape, get: () => (asked++ === 0 ? value : other) }],
    [
      0.2,
      {
        ...shape,
        get: () => {
          throw new TrapError()
        },
      },
    ],
  ])
  Object.defineProperty(object, name, getter)
}

function objectFrom(random: Random, context: FuzzContext): unknown {
  const object: Fields = random.chance(0.9) ? {} : Object.create(null)
  const fields = Object.entries({ ...kindOf(random, textFrom), ...optionsOf(random, context) })
  for (const [name, value] of fields) put(object, name, random.chance(0.1) ? junk(random) : value, random)
  for (let more = random.chance(0.5) ? 0 : random.between(1, 3); more > 0; more--)
    put(object, pick(random, FIELDS), junk(random), random)
  return object
}

/** Any when, of any type. */
export const when: Subject<unknown, ReadRule> = {
  name: 'when',
  make: (random, context) =>
    random.weighted<() => unknown>([
      [4, () => soundWhen(random, context)],
      [6, () => objectFrom(random, context)],
      [1, () => junk(random)],
      [1, () => textFrom(random, pick(random, [ONCE, RECURRING, ISO, DURATION]))],
    ])(),
  read: (input, context) => readRule(input as When, context),
  check: (_input, answer, context) => assertRule(answer, context),
}
