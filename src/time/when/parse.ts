import { parseRecurring, parseTime } from '../phrases/index.ts'
import type { Rule } from '../rules/index.ts'
import { assertTimezone, zoneNote } from '../zones/index.ts'
import { resolveWhen, type WhenContext } from './when.ts'

/** The meaning of a text: an instant, or a rule. */
export type Parsed =
  | { instant: number; timezone: string; notes: string[] }
  | { rule: Rule; timezone: string; notes: string[] }

/** Parses a phrase, an ISO time or a duration, without setting an alarm. */
export function parse(text: string, context: WhenContext): Parsed {
  const timezone = assertTimezone(context.timezone)
  const read = { ...context, timezone }
  if (typeof text === 'string' && parseRecurring(text, read) !== null) {
    const { rule, notes } = resolveWhen(text, read)
    return { rule, timezone, notes }
  }
  const { at, notes } = parseTime(text, read)
  if (at < context.now) notes.push('the instant is in the past')
  const note = zoneNote(timezone)
  if (note !== null) notes.push(note)
  return { instant: at, timezone, notes }
}
