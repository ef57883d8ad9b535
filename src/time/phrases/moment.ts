import { WakefulError } from '../../error.ts'
import { isDuration, parseDuration } from '../durations/index.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'
import {
  assertInstant,
  localDay,
  type Moment,
  parseDay,
  parseInstant,
  parseIso,
  resolveWallTime,
  startOfDay,
  zoned,
} from '../zones/index.ts'
import { parsePhrase, type ResolvedPhrase } from './phrase.ts'
import type { PhraseContext } from './phrase-input.ts'

/** Parses a text that names one instant: ISO with offset, a wall time of the zone, a duration from now, or a phrase. */
export function parseTime(text: string, context: PhraseContext): ResolvedPhrase {
  if (typeof text !== 'string' || text.length > TEXT_LENGTH_MAX) {
    throw new WakefulError('phrase.too_long', { max: TEXT_LENGTH_MAX })
  }
  if (text.trim() === '') throw new WakefulError('phrase.empty', {})
  const moment = parseIsoTime(text, context.timezone)
  if (moment !== null) return moment
  if (isDuration(text)) return { at: assertInstant(context.now + parseDuration(text), text), notes: [] }
  return parsePhrase(text, context)
}

/**
 * Parses a bound of a rule: an instant, an ISO wall time of the zone, a day or a phrase. A day means its start, or its
 * end if `side` is 'end'.
 */
export function parseBound(value: Moment, context: PhraseContext, side: 'start' | 'end'): number {
  if (typeof value !== 'string') return parseInstant(value)
  const { timezone } = context
  const moment = parseIsoTime(value, timezone)
  if (moment !== null) return moment.at
  const day = readDay(value.trim(), context)
  if (day !== null) {
    return side === 'start' ? startOfDay(timezone, day, 0) : startOfDay(timezone, day + 1, 0) - 1
  }
  try {
    return parseTime(value, context).at
  } catch (cause) {
    throw new WakefulError('phrase.bound', { text: quote(value) }, { cause })
  }
}

/** Parses a text that names a day without a time of day. */
function readDay(text: string, context: PhraseContext): number | null {
  if (/^today$/i.test(text)) return localDay(context.timezone, context.now)
  const day = parseDay(text)
  if (day !== null || text === '' || isDuration(text)) return day
  try {
    // Fails if the phrase already has a time of day.
    return localDay(context.timezone, parsePhrase(`${text} at 00:00`, context).at)
  } catch {
    return null
  }
}

function parseIsoTime(text: string, timezone: string): ResolvedPhrase | null {
  const iso = parseIso(text)
  if (iso === null) return null
  if (iso.offsetMs !== undefined) return { at: assertInstant(iso.wallTimeMs - iso.offsetMs, text), notes: [] }
  const wall = zoned('UTC', iso.wallTimeMs).toPlainDateTime()
  const { at, note } = resolveWallTime(wall, timezone, text)
  return { at, wall: iso.wallTimeMs, notes: note === undefined ? [] : [note] }
}
