import { WakefulError } from '../../error.ts'
import type { ParamsOf, ReasonId } from '../../errors/index.ts'
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

/** The reasons of refusals that name the whole phrase. */
type PhraseReason = Extract<ReasonId, `phrase.${string}`>

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

  /** The error that refuses this phrase. */
  refusal<R extends PhraseReason>(reason: R, params: Omit<ParamsOf<R>, 'text'>): WakefulError {
    const all = { ...params, text: quote(this.text) }
    return new WakefulError(...([reason, all] as unknown as ConstructorParameters<typeof WakefulError>))
  }

  /** Refuses this phrase if the condition holds. */
  refuseIf<R extends PhraseReason>(condition: unknown, reason: R, params: Omit<ParamsOf<R>, 'text'>): void {
    if (condition) throw this.refusal(reason, params)
  }
}
