import { z } from 'zod'
import { assertTimezone, parseDuration } from '../../time/index.ts'

/** A kind of value: what it may be, in words and for zod, and how it is read where only text can be given. */
export interface Kind<T> {
  /** What would be right, for messages and the docs. */
  readonly words: string
  readonly schema: z.ZodType<T>
  /** A flag's or a variable's text as what the schema looks at. */
  readonly fromText: (text: string) => unknown
}

const asIs = (text: string) => text

/** Any text but an empty one. */
export const text: Kind<string> = { words: 'a text', schema: z.string().min(1), fromText: asIs }

/** A text that may be left out altogether. */
export const textOrNone: Kind<string | null> = { ...text, schema: text.schema.nullable() }

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    words: `a whole number from ${min} to ${max}`,
    schema: z.number().int().min(min).max(max),
    fromText: (given) => (/^\d+$/.test(given) ? Number(given) : given),
  }
}

/** A length of time, as everywhere: `30s`, `1h30m`. It stays the text that was given. */
export const duration: Kind<string> = {
  words: 'a duration such as 250ms, 30s or 1h30m',
  schema: z.string().refine((given) => passes(() => parseDuration(given))),
  fromText: asIs,
}

/** A length of time, or `forever`. */
export const durationOrForever: Kind<string> = {
  words: 'a duration such as 30d, or forever',
  schema: z.literal('forever').or(duration.schema),
  fromText: asIs,
}

/** A zone of the IANA database. */
export const zone: Kind<string> = {
  words: 'a time zone such as UTC or Europe/Rome',
  schema: z.string().refine((given) => passes(() => assertTimezone(given))),
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
  schema: z.boolean(),
  fromText: (given) => SWITCH[given.toLowerCase()] ?? given,
}

/** One of a few words. */
export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const words = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  return { words, schema: z.enum(choices), fromText: asIs }
}

/** Several texts: a list in a file, separated by commas elsewhere. */
export const list: Kind<readonly string[]> = {
  words: 'a list, separated by commas',
  schema: z.array(z.string().min(1)),
  fromText: (given) =>
    given
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
}

const QUOTA = z.strictObject({
  active_alarms: z.number().int().min(0).optional(),
  sets_per_second: z.number().positive().optional(),
  payload_bytes: z.number().int().min(0).optional(),
  concurrent_deliveries: z.number().int().min(1).optional(),
  wakes_per_hour: z.number().int().min(1).optional(),
  min_interval: duration.schema.optional(),
})

/** What a tenant or an owner may use; what is not named is not limited. */
export type Quota = z.infer<typeof QUOTA>

const QUOTAS = z.strictObject({ tenant: QUOTA.optional(), owner: QUOTA.optional() })

/** Limits of every tenant and owner that has none of its own. */
export const quotas: Kind<z.infer<typeof QUOTAS>> = {
  words: `{ "tenant": { … }, "owner": { … } }, each with any of ${Object.keys(QUOTA.shape).join(', ')}`,
  schema: QUOTAS,
  fromText: asIs,
}

/** The names a value of `quotas` may have, for the nearest one to a typo. */
export const QUOTA_NAMES: readonly string[] = [...Object.keys(QUOTAS.shape), ...Object.keys(QUOTA.shape)]

function passes(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}
