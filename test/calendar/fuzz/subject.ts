import type { CalendarLookup } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'

/** The present and the zone of an input. */
export interface FuzzContext {
  now: number
  timezone: string
  calendars: CalendarLookup
}

/** One parser under test: how inputs are generated, how it is called, and how its results are checked. */
export interface Subject<Input = unknown, Answer = unknown> {
  readonly name: string
  make(random: Random, context: FuzzContext): Input
  /** The timed part. Throws a WakefulError if it refuses; the result is plain data, and the same every time. */
  read(input: Input, context: FuzzContext): Answer
  /** Throws if the result cannot be right, by means independent of the parser. */
  check?(input: Input, answer: Answer, context: FuzzContext): void
}

const ZONES = [
  'UTC',
  'Europe/Rome',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/St_Johns',
  'Africa/Monrovia',
]

/** Ordinary moments, ends of months and years, a leap day. */
const MOMENTS = [
  '2026-03-04T09:30:15.123Z',
  '2028-02-29T12:00Z',
  '2026-01-31T23:30Z',
  '2026-12-31T23:00Z',
  '1970-02-01T00:00Z',
].map((text) => Date.parse(text))

/** Just before and after a clock change, and between two equal wall times. */
const CHANGES: readonly (readonly [moment: string, timezone: string])[] = [
  ['2026-03-29T00:59:59.999Z', 'Europe/Rome'],
  ['2026-10-25T00:20:00Z', 'Europe/Rome'],
  ['2026-10-25T01:20:00Z', 'Europe/Rome'],
  ['2026-04-04T14:50:00Z', 'Australia/Lord_Howe'],
  ['2026-04-04T15:10:00Z', 'Australia/Lord_Howe'],
  ['2011-12-30T09:59:59Z', 'Pacific/Apia'],
]

/** A month inside the accepted years: nearer to their ends, the local date is outside. */
const MOMENT_MIN = Date.parse('1970-02-01T00:00Z')
const MOMENT_MAX = Date.parse('9999-12-01T00:00Z')

/** A random element. */
export function pick<T>(random: Random, items: ArrayLike<T>): T {
  return items[random.between(0, items.length - 1)]!
}

/** Finds a calendar for every name, so that rules with days off resolve. */
const calendars: CalendarLookup = (name) => ({
  name,
  version: 1,
  dates: { '2026-12-25': 'Christmas' },
  weekend: [],
})

/** A moment and a zone. */
export function randomContext(random: Random): FuzzContext {
  if (random.chance(0.3)) {
    const [moment, timezone] = pick(random, CHANGES)
    return { now: Date.parse(moment), timezone, calendars }
  }
  const now = random.chance(0.6) ? pick(random, MOMENTS) : random.between(MOMENT_MIN, MOMENT_MAX)
  return { now, timezone: pick(random, ZONES), calendars }
}
