import { display } from '../error.ts'
import {
  assertPhraseSettings,
  assertTimezone,
  closest,
  type PhraseSettings,
  parseDuration,
} from '../time/index.ts'

/** A type of setting: its description, its check, and how the text of a flag or variable is parsed. */
export interface Kind<T> {
  /** The expected value, for error messages and docs. */
  readonly words: string
  /** Whether it is one of a few words, which the help lists. */
  readonly isChoice?: boolean
  readonly fits: (value: unknown) => value is T
  /** Where a value that has parts is invalid (` at owner.min_interval`), and what is expected there. */
  readonly wrongPart?: (value: unknown) => WrongPart | null
  /** Parses the text of a flag or variable; without it, the text is the value. */
  readonly fromText?: (text: string) => unknown
}

interface WrongPart {
  readonly at: string
  readonly expected?: string
}

/** A text that is not empty. */
export const text: Kind<string> = { words: 'a text', fits: isText }

/** An optional text. */
export const textOrNone: Kind<string | null> = {
  words: 'a text',
  fits: (value) => value === null || isText(value),
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return {
    words: `a whole number ${bounds}`,
    fits: (value): value is number =>
      Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
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

type Times = NonNullable<PhraseSettings['times']>

/** What words such as `morning` mean: an object in a file, `morning=08:00,eod=18:00` elsewhere. */
export const timesOfDay: Kind<Times> = {
  words: 'times of day such as morning=08:00,eod=18:00',
  fits: (value): value is Times =>
    isObject(value) && passes(() => assertPhraseSettings({ times: value as Times })),
  fromText: (input) =>
    Object.fromEntries(input.split(',').map((each) => each.split('=').map((part) => part.trim()))),
}

/** The same limits are in the contracts, which would make every command load zod. */
const QUOTA = {
  active_alarms: wholeNumber(0),
  sets_per_second: {
    words: 'a number greater than zero',
    fits: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  } as Kind<number>,
  payload_bytes: wholeNumber(0),
  concurrent_deliveries: wholeNumber(1),
  wakes_per_hour: wholeNumber(1),
  min_interval: duration,
}

/** The limits of a tenant or an owner. */
export type Quota = {
  readonly [K in keyof typeof QUOTA]?: (typeof QUOTA)[K] extends Kind<infer T> ? T : never
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
}

/** The names in `quotas`, to suggest one for a typo. */
export const QUOTA_NAMES: readonly string[] = [...LEVELS, ...Object.keys(QUOTA)]

/** The first invalid part of quotas; null if all is valid. */
function wrongQuota(value: unknown): WrongPart | null {
  if (!isObject(value)) return { at: '' }
  for (const [level, quota] of Object.entries(value)) {
    if (!LEVELS.includes(level)) return unknownKey('', level)
    if (!isObject(quota)) return { at: ` at ${level}` }
    for (const [name, limit] of Object.entries(quota)) {
      if (!Object.hasOwn(QUOTA, name)) return unknownKey(` at ${level}`, name)
      const { fits, words } = QUOTA[name as keyof Quota]
      if (!fits(limit)) return { at: ` at ${level}.${name}`, expected: words }
    }
  }
  return null
}

function unknownKey(at: string, name: string): WrongPart {
  return { at: `${at} has the unknown key ${display(name)}${suggestion(name, QUOTA_NAMES)}: it` }
}

/** The known name that an unknown one probably means, in parentheses. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = closest(name, known, 3)
  return near === null ? '' : ` (did you mean ${near}?)`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
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
