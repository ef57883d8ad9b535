/** Spelled-out numbers, and 'a' and 'an', which mean one. */
export const NUMBERS = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve'
    .split(' ')
    .map((word, value) => [word, value]),
)
  .set('a', 1)
  .set('an', 1)

/** A whole number, in digits or spelled out; null for anything else. */
export function wholeNumber(word: string): number | null {
  return NUMBERS.get(word) ?? (/^\d{1,9}$/.test(word) ? Number(word) : null)
}

/** Weekday names and their short forms; Monday is 1. */
export const WEEKDAYS = names(
  'monday mon,tuesday tue tues,wednesday wed,thursday thu thur thurs,friday fri,saturday sat,sunday sun',
)

/** Month names and their short forms; January is 1. */
export const MONTHS = names(
  'january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,october oct,november nov,december dec',
)

/** Words that make a phrase recur. */
export const RECURRING = new Set(
  'every each daily hourly weekly monthly yearly annually weekdays weekday weekends nightly biweekly fortnightly mornings afternoons evenings nights'
    .split(' ')
    .concat([...WEEKDAYS.keys()].filter((name) => name.endsWith('day')).map((name) => `${name}s`)),
)

/** Units of time in phrases, by their spellings, under the names that Temporal uses. */
export const UNITS = new Map<string, Unit>(
  (
    [
      ['milliseconds', 'ms millisecond milliseconds'],
      ['seconds', 's sec secs second seconds'],
      ['minutes', 'm min mins minute minutes'],
      ['hours', 'h hr hrs hour hours'],
      ['days', 'd day days'],
      ['weeks', 'w wk wks week weeks'],
      ['months', 'month months mo'],
      ['years', 'y yr yrs year years'],
    ] as const
  ).flatMap(([unit, words]) => words.split(' ').map((word): [string, Unit] => [word, unit])),
)

/** The units of fixed length in milliseconds, longest first. The others follow the calendar. */
export const UNIT_MS: Partial<Record<Unit, number>> = {
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
}

/** A unit of time in phrases. */
export type Unit = 'milliseconds' | 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months' | 'years'

/** '1st', '22nd', '3rd', '24th' as a number; null for anything else. */
export function ordinal(word: string | undefined): number | null {
  const match = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word ?? '')
  return match === null ? null : Number(match[1])
}

/** Whether a word looks like a time zone, which is a separate option and not part of a phrase. */
export function looksLikeZone(word: string): boolean {
  return /^(?:(?:utc|gmt)(?:[+-]\d{1,2}(?::?\d\d)?)?|z|[ecmp][sd]?t|cet|cest|bst|[a-z]+\/[a-z_/]+)$/.test(
    word,
  )
}

function names(list: string): Map<string, number> {
  return new Map(
    list.split(',').flatMap((forms, index) => forms.split(' ').map((form) => [form, index + 1] as const)),
  )
}
