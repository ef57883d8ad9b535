import type { Temporal } from 'temporal-polyfill'
import { nonWorkingDays } from '../calendars/index.ts'
import { wholeNumber } from '../text/index.ts'
import { parseDay } from '../zones/index.ts'
import type { PhraseInput } from './phrase-input.ts'

/** A number of working days from today, in a phrase. */
export interface ParsedWorkingDays {
  ahead: number
  /** An amount such as 'in 3 working days', and not 'the next working day'. */
  counted: boolean
  used: number
}

const AHEAD_MAX = 250

/** How many words at the start are 'working day', 'business days' or 'workday'; 0 if there are none. */
export function workingDayLength([first = '', second = '']: string[]): number {
  if (first === 'workday' || first === 'workdays') return 1
  return (first === 'working' || first === 'business') && (second === 'day' || second === 'days') ? 2 : 0
}

/** Parses 'on the next working day', 'in 3 business days', '2 working days from now' at the start of these words. */
export function readWorkingDays(words: string[]): ParsedWorkingDays | null {
  const on = words[0] === 'on' ? 1 : 0
  const lead = on + (words[on] === 'the' ? 1 : 0)
  const next = words[lead] === 'next' ? workingDayLength(words.slice(lead + 1)) : 0
  if (next > 0) return { ahead: 1, counted: false, used: lead + 1 + next }
  const led = words[0] === 'in' ? 1 : 0
  const days = workingDayLength(words.slice(led + 1))
  const ahead = wholeNumber(words[led] ?? '')
  if (ahead === null || days === 0) return null
  const used = led + 1 + days
  if (led === 1) return { ahead, counted: true, used }
  return words[used] === 'from' && words[used + 1] === 'now' ? { ahead, counted: true, used: used + 2 } : null
}

/** The working day this many after today; today itself does not count. */
export function workingDayAhead({ ahead }: ParsedWorkingDays, phrase: PhraseInput): Temporal.PlainDate {
  if (ahead < 1 || ahead > AHEAD_MAX) {
    throw phrase.refusal('phrase.working_days_range', { count: ahead, max: AHEAD_MAX })
  }
  const { exclude, calendars } = phrase.context
  const off = nonWorkingDays(exclude, calendars)
  const today = phrase.localNow.toPlainDate()
  const from = parseDay(today.toString())
  let day = from
  for (let left = ahead; left > 0 && day !== null; left--) day = off.workingDay(day + 1, 1)
  if (day !== null && from !== null) return today.add({ days: day - from })
  throw phrase.refusal('phrase.no_working_day', {})
}
