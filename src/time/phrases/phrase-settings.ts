import { assertMembers, WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'

/** The words for times of day, and what they mean by default. `eod` is the end of the day. */
export const DEFAULT_TIMES = {
  morning: '09:00',
  afternoon: '15:00',
  evening: '19:00',
  night: '22:00',
  tonight: '20:00',
  eod: '17:00',
} as const

/** A word for a time of day. */
export type TimeWord = keyof typeof DEFAULT_TIMES

/** How phrases are read where they leave the time of day open. */
export interface PhraseSettings {
  /**
   * How an hour without am or pm is read, such as 'at 9': on the 24-hour clock (09:00), or on the 12-hour clock, in the half
   * of the day in which people are awake: 7 to 11 in the morning, 12 to 6 in the afternoon. Without it, such a phrase is refused.
   */
  readonly clock?: '12h' | '24h'
  /** What words such as 'morning' mean, as HH:MM; those that are left out keep their default. */
  readonly times?: Partial<Readonly<Record<TimeWord, string>>>
}

const FIELDS = ['clock', 'times']
const CLOCKS = ['12h', '24h']
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/

/** Refuses invalid settings of phrases, with the field that is wrong. */
export function assertPhraseSettings(settings: PhraseSettings): PhraseSettings {
  assertObject('phrases', settings)
  assertMembers('phrases', settings, FIELDS)
  const { clock, times = {} } = settings
  if (clock !== undefined && !CLOCKS.includes(clock)) {
    const params = { allowed: CLOCKS, value: quote(clock) }
    throw new WakefulError('field.not_one_of', params, { field: 'phrases.clock' })
  }
  assertObject('phrases.times', times)
  assertMembers('phrases.times', times, Object.keys(DEFAULT_TIMES))
  for (const [word, time] of Object.entries(times)) {
    if (typeof time === 'string' && TIME.test(time)) continue
    const params = { expected: "a time such as '08:00'", value: quote(time) }
    throw new WakefulError('field.invalid', params, { field: `phrases.times.${word}` })
  }
  return settings
}

function assertObject(field: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) return
  throw new WakefulError('field.malformed', { expected: 'an object' }, { field })
}
