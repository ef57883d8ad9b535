import { assertTimezone, parseDuration } from '../time/index.ts'

/** A kind of value: what it may be, in words and by a check, and how it is read where only text can be given. */
export interface Kind<T> {
  /** What would be right, for messages and the docs. */
  readonly words: string
  /** Whether it is one of a few words, which help then lists. */
  readonly isChoice?: boolean
  readonly fits: (value: unknown) => value is T
  /** Which part of a wrong value is wrong, where it has parts: `owner.min_interval`. */
  readonly wrongPart?: (value: unknown) => string | null
  /** What would be right for a part; undefined where it is all of the value that is to be told. */
  readonly wordsOf?: (part: string) => string | undefined
  /** A flag's or a variable's text as what the check looks at. */
  readonly fromText: (text: string) => unknown
}

const asIs = (text: string) => text

/** Any text but an empty one. */
export const text: Kind<string> = { words: 'a text', fits: isText, fromText: asIs }

/** A text that may be left out altogether. */
export const textOrNone: Kind<string | null> = {
  words: 'a text',
  fits: (value) => value === null || isText(value),
  fromText: asIs,
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    words: `a whole number from ${min} to ${max}`,
    fits: (value): value is number => isWhole(value, min) && value <= max,
    fromText: (given) => (/^\d+$/.test(given) ? Number(given) : given),
  }
}

/** A length of time, as everywhere: `30s`, `1h30m`. It stays the text that was given. */
export const duration: Kind<string> = {
  words: 'a duration such as 250ms, 30s or 1h30m',
  fits: isDuration,
  fromText: asIs,
}

/** A length of time, or `forever`. */
export const durationOrForever: Kind<string> = {
  words: 'a duration such as 30d, or forever',
  fits: (value): value is string => value === 'forever' || isDuration(value),
  fromText: asIs,
}

/** A zone of the IANA database. */
export const zone: Kind<string> = {
  words: 'a time zone such as UTC or Europe/Rome',
  fits: (value): value is string => typeof value === 'string' && passes(() => assertTimezone(value)),
  fromText: asIs,
}

const SWITCH: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  '1': true,
  off: false,
  false: false,
  no: false,
  '0': false,
}

/** On or off: true and false in a file. */
export const onOrOff: Kind<boolean> = {
  words: 'on or off',
  fits: (value) => typeof value === 'boolean',
  fromText: (given) => SWITCH[given.toLowerCase()] ?? given,
}

/** One of a few words. */
export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const words = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  return { words, isChoice: true, fits: (value): value is T => choices.includes(value as T), fromText: asIs }
}

/** Several texts: a list in a file, separated by commas elsewhere. */
export const list: Kind<readonly string[]> = {
  words: 'a list, separated by commas',
  fits: (value): value is string[] => Array.isArray(value) && value.every(isText),
  fromText: (given) =>
    given
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
}

/** What a tenant or an owner may use; what is not named is not limited. As in the contracts, which would bring zod along to every command. */
export interface Quota {
  readonly active_alarms?: number
  readonly sets_per_second?: number
  readonly payload_bytes?: number
  readonly concurrent_deliveries?: number
  readonly wakes_per_hour?: number
  readonly min_interval?: string
}

type Bound = Pick<Kind<unknown>, 'words'> & { readonly fits: (value: unknown) => boolean }

const atLeast = (min: number): Bound => ({
  words: `a whole number from ${min} on`,
  fits: (value) => isWhole(value, min),
})

const QUOTA: { readonly [K in keyof Required<Quota>]: Bound } = {
  active_alarms: atLeast(0),
  sets_per_second: {
    words: 'a number above 0',
    fits: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  },
  payload_bytes: atLeast(0),
  concurrent_deliveries: atLeast(1),
  wakes_per_hour: atLeast(1),
  min_interval: duration,
}

/** Limits of every tenant, and of every owner, that has none of its own. */
export interface QuotasGiven {
  readonly tenant?: Quota
  readonly owner?: Quota
}

const PARTIES = ['tenant', 'owner']

export const quotas: Kind<QuotasGiven> = {
  words: `{ "tenant": { … }, "owner": { … } }, each with any of ${Object.keys(QUOTA).join(', ')}`,
  fits: (value): value is QuotasGiven => wrongQuota(value) === null,
  wrongPart: wrongQuota,
  wordsOf: (part) => QUOTA[part.split('.')[1] as keyof Quota]?.words,
  fromText: asIs,
}

/** The names a value of `quotas` may have, for the nearest one to a typo. */
export const QUOTA_NAMES: readonly string[] = [...PARTIES, ...Object.keys(QUOTA)]

/** The first part of quotas that is wrong; '' is all of it, null none. */
function wrongQuota(value: unknown): string | null {
  if (!isObject(value)) return ''
  for (const [party, quota] of Object.entries(value)) {
    if (!PARTIES.includes(party) || !isObject(quota)) return party
    for (const [name, bound] of Object.entries(quota))
      if (!Object.hasOwn(QUOTA, name) || !QUOTA[name as keyof Quota].fits(bound)) return `${party}.${name}`
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
