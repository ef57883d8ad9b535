import { assertTimezone, parseDuration } from '../time/index.ts'

/** A type of setting: its description, its check, and how the text of a flag or variable is parsed. */
export interface Kind<T> {
  /** The expected value, for error messages and docs. */
  readonly words: string
  /** Whether it is one of a few words, which the help lists. */
  readonly isChoice?: boolean
  readonly fits: (value: unknown) => value is T
  /** The invalid part of a value that has parts: `owner.min_interval`. */
  readonly wrongPart?: (value: unknown) => string | null
  /** The expected value of a part; undefined if there is no such part. */
  readonly wordsOf?: (part: string) => string | undefined
  /** Parses the text of a flag or variable; without it, the text is the value. */
  readonly fromText?: (text: string) => unknown
}

/** A text that is not empty. */
export const text: Kind<string> = { words: 'a text', fits: isText }

/** An optional text. */
export const textOrNone: Kind<string | null> = {
  words: 'a text',
  fits: (value) => value === null || isText(value),
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    words: `a whole number from ${min} to ${max}`,
    fits: (value): value is number => isWhole(value, min) && value <= max,
    fromText: (input) => (/^\d+$/.test(input) ? Number(input) : input),
  }
}

/** A duration: `30s`, `1h30m`. It stays a text. */
export const duration: Kind<string> = {
  words: 'a duration such as 250ms, 30s or 1h30m',
  fits: isDuration,
}

/** A duration, or `forever`. */
export const durationOrForever: Kind<string> = {
  words: 'a duration such as 30d, or forever',
  fits: (value): value is string => value === 'forever' || isDuration(value),
}

/** An IANA time zone. */
export const zone: Kind<string> = {
  words: 'a time zone such as UTC or Europe/Rome',
  fits: (value): value is string => typeof value === 'string' && passes(() => assertTimezone(value)),
}

const ON: readonly string[] = ['on', 'true', 'yes', '1']
const OFF: readonly string[] = ['off', 'false', 'no', '0']

/** On or off: true and false in a file. */
export const onOrOff: Kind<boolean> = {
  words: 'on or off',
  fits: (value) => typeof value === 'boolean',
  fromText: (input) => {
    const word = input.toLowerCase()
    if (ON.includes(word)) return true
    return OFF.includes(word) ? false : input
  },
}

/** One of a few words. */
export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const words = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  return { words, isChoice: true, fits: (value): value is T => choices.includes(value as T) }
}

/** A list of texts: a JSON list in a file, separated by commas elsewhere. */
export const list: Kind<readonly string[]> = {
  words: 'a list, separated by commas',
  fits: (value): value is string[] => Array.isArray(value) && value.every(isText),
  fromText: (input) =>
    input
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
}

type Bound<T> = Pick<Kind<T>, 'words' | 'fits'>

const atLeast = (min: number): Bound<number> => ({
  words: `a whole number of at least ${min}`,
  fits: (value): value is number => isWhole(value, min),
})

/** The same limits are in the contracts, which would make every command load zod. */
const QUOTA = {
  active_alarms: atLeast(0),
  sets_per_second: {
    words: 'a number greater than zero',
    fits: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  } as Bound<number>,
  payload_bytes: atLeast(0),
  concurrent_deliveries: atLeast(1),
  wakes_per_hour: atLeast(1),
  min_interval: duration,
}

/** The limits of a tenant or an owner. */
export type Quota = {
  readonly [K in keyof typeof QUOTA]?: (typeof QUOTA)[K] extends Bound<infer T> ? T : never
}

/** The default quotas of tenants and of owners. */
export interface DefaultQuotas {
  readonly tenant?: Quota
  readonly owner?: Quota
}

const LEVELS = ['tenant', 'owner']

/** Default quotas. */
export const quotas: Kind<DefaultQuotas> = {
  words: `{ "tenant": { … }, "owner": { … } }, each with any of ${Object.keys(QUOTA).join(', ')}`,
  fits: (value): value is DefaultQuotas => wrongQuota(value) === null,
  wrongPart: wrongQuota,
  wordsOf: (part) => QUOTA[part.split('.')[1] as keyof Quota]?.words,
}

/** The names in `quotas`, to suggest one for a typo. */
export const QUOTA_NAMES: readonly string[] = [...LEVELS, ...Object.keys(QUOTA)]

/** The first invalid part of quotas; '' if it is no object, null if all is valid. */
function wrongQuota(value: unknown): string | null {
  if (!isObject(value)) return ''
  for (const [level, quota] of Object.entries(value)) {
    if (!LEVELS.includes(level) || !isObject(quota)) return level
    for (const [name, bound] of Object.entries(quota))
      if (!Object.hasOwn(QUOTA, name) || !QUOTA[name as keyof Quota].fits(bound)) return `${level}.${name}`
  }
  return null
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isWhole(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min
}

function isDuration(value: unknown): value is string {
  return typeof value === 'string' && passes(() => parseDuration(value))
}

function passes(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}
