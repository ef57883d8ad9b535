import { WakefulError } from '../../error.ts'
import type { CalendarLookup, Exclusion } from '../calendars/index.ts'
import { quote } from '../text/index.ts'
import { zoned } from '../zones/index.ts'

/** What a phrase is resolved against: the present, the zone, and the days off that were given separately. */
export interface PhraseContext {
  now: number
  timezone: string
  calendars?: CalendarLookup
  exclude?: Exclusion | undefined
}

/** A phrase while it is parsed: its text, the local time now, and the notes about it so far. */
export class PhraseInput {
  readonly text: string
  readonly context: PhraseContext
  readonly localNow: Temporal.ZonedDateTime
  readonly notes: string[] = []

  constructor(text: string, context: PhraseContext) {
    this.text = text
    this.context = context
    this.localNow = zoned(context.timezone, context.now)
  }

  /** The error for a phrase that is not supported. The detail says why, and which form works. */
  refusal(detail: string): WakefulError {
    return new WakefulError('phrase.unsupported', { text: quote(this.text), detail })
  }
}

/** The same error, for a part of a phrase. */
export function unsupported(detail: string): WakefulError {
  return new WakefulError('phrase.unsupported', { text: null, detail })
}
