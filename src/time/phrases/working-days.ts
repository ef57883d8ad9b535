import { WakefulError } from '../../error.ts'
import type { DaysOff } from '../calendars/index.ts'
import { NUMBERS, quote } from '../text/index.ts'
import { parseDay } from '../zones/index.ts'
import { workingDayLength } from './recurring/days.ts'

/** A number of working days from today, in a phrase. */
export interface ParsedWorkingDays {
  ahead: number
  /** An amount such as 'in 3 working days', and not 'the next working day'. */
  counted: boolean
  used: number
}

const AHEAD_MAX = 250

/** Parses 'on the next working day', 'in 3 business days', '2 working days from now' at the start of these words. */
export function readWorkingDays(words: string[]): ParsedWorkingDays | null {
  const on = words[0] === 'on' ? 1 : 0
  const lead = on + (words[on] === 'the' ? 1 : 0)
  const next = words[lead] === 'next' ? workingDayLength(words.slice(lead + 1)) : 0
  if (next > 0) return { ahead: 1, counted: false, used: lead + 1 + next }
  const led = words[0] === 'in' ? 1 : 0
  const number = words[led] ?? ''
  const days = workingDayLength(words.slice(led + 1))
  const ahead = NUMBERS.get(number) ?? (/^\d{1,9}$/.test(number) ? Number(number) : null)
  if (ahead === null || days === 0) return null
  const used = led + 1 + days
  if (led === 1) return { ahead, counted: true, used }
  return words[used] === 'from' && words[used + 1] === 'now' ? { ahead, counted: true, used: used + 2 } : null
}

/** The working day this many after today; today itself does not count. */
export function workingDayAhead(
  { ahead }: ParsedWorkingDays,
  today: Temporal.PlainDate,
  off: DaysOff,
  text: string,
): Temporal.PlainDate {
  if (ahead < 1 || ahead > AHEAD_MAX) {
    throw new WakefulError('phrase.unsupported', {
      text: quote(text),
      detail: `working days are counted from 1 to ${AHEAD_MAX}, not ${ahead}`,
    })
  }
  const from = parseDay(today.toString())
  let day = from
  for (let left = ahead; left > 0 && day !== null; left--) day = off.nextWorkingDay(day + 1)
  if (day !== null && from !== null) return today.add({ days: day - from })
  throw new WakefulError('phrase.unsupported', {
    text: quote(text),
    detail: 'no such working day comes within ten years',
  })
}
