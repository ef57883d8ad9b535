import type { Temporal } from 'temporal-polyfill'
import { WakefulError } from '../../error.ts'
import type { ParamsOf, ReasonId } from '../../errors/index.ts'
import type { CalendarLookup, Exclusion } from '../calendars/index.ts'
import { END_OF_DAY, quote } from '../text/index.ts'
import { zoned } from '../zones/index.ts'
import { DEFAULT_TIMES, type PhraseSettings, type TimeWord } from './phrase-settings.ts'
import type { ParsedTime } from './time-of-day.ts'

/** What a phrase is resolved against: the present, the zone, the days off beside it, and how its open parts are read. */
export interface PhraseContext {
  now: number
  timezone: string
  calendars?: CalendarLookup
  exclude?: Exclusion | undefined
  phrases?: PhraseSettings | undefined
}

/** The reasons of refusals that name the whole phrase. */
type PhraseReason = Extract<ReasonId, `phrase.${string}`>

/** A phrase while it is parsed: its text, the local time now, and the notes about it so far. */
export class PhraseInput {
  readonly text: string
  readonly context: PhraseContext
  readonly localNow: Temporal.ZonedDateTime
  readonly settings: PhraseSettings
  readonly notes: string[] = []

  constructor(text: string, context: PhraseContext) {
    this.text = text
    this.context = context
    this.settings = context.phrases ?? {}
    this.localNow = zoned(context.timezone, context.now)
  }

  /** The time of day that a word means, with a note that shows what such words mean. */
  timeOf(word: TimeWord): ParsedTime {
    const times = { ...DEFAULT_TIMES, ...this.settings.times }
    const [hour = 0, minute = 0] = times[word].split(':').map(Number)
    const others = Object.entries(times).filter(([other]) => other !== word)
    const table = others.map(([other, time]) => `${nameOf(other)} ${time}`).join(', ')
    return { hour, minute, second: 0, note: `'${nameOf(word)}' is read as ${times[word]} (${table})` }
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

function nameOf(word: string): string {
  return word === END_OF_DAY ? 'end of day' : word
}
