import { WakefulError } from '../../error.ts'
import { isDuration, parseDuration } from '../durations/index.ts'
import { quote } from '../text/index.ts'
import { formatInstant, INSTANT_MIN } from '../zones/index.ts'
import { isWhenObject, resolveWhen, type When, type WhenContext } from './when.ts'

const SECONDS = /^\d+(?:\.\d+)?$/
const DATE = /^[+-]?\d{4,6}-?\d\d/
const FORMS =
  'give an instant (2026-12-24T18:00:00Z), seconds since 1970, or a duration, which means so long ago (2h, 7d)'

/**
 * Resolves the start of a list, such as `since` in a history. A duration means that long ago. A phrase for a future time
 * is refused, because the list would be empty. An instant may be in the future, because clocks differ.
 */
export function resolveSince(since: When, context: WhenContext): number {
  const text = textOf(since)
  if (text !== null && SECONDS.test(text)) return resolveWhen({ unix: Number(text) }, context).first
  const ago = text?.replace(/ ago$/i, '') ?? ''
  if (isDuration(ago)) return Math.max(INSTANT_MIN, context.now - parseDuration(ago))
  const { rule, first } = resolvePast(since, text, context)
  const isInstant = text === null ? !(isWhenObject(since) && since.delay !== undefined) : DATE.test(text)
  if (rule.kind !== 'once')
    throw new WakefulError(
      'invalid_time',
      `since ${quoteInput(since, text)} recurs, and names no moment: ${FORMS}`,
    )
  if (isInstant || first <= context.now) return first
  throw new WakefulError(
    'invalid_time',
    `since ${quoteInput(since, text)} is ${formatInstant(first)}, which is still to come: ${FORMS}`,
  )
}

function textOf(since: When): string | null {
  if (typeof since === 'string') return since.trim()
  return isWhenObject(since) && typeof since.at === 'string' ? since.at.trim() : null
}

/** Resolves the input; the error for an invalid one names the forms of a past time. */
function resolvePast(since: When, text: string | null, context: WhenContext) {
  try {
    return resolveWhen(since, context)
  } catch (thrown) {
    if (text === null || DATE.test(text) || !(thrown instanceof WakefulError)) throw thrown
    throw new WakefulError(thrown.code, `since ${quote(text)} is not a time: ${FORMS}`, { cause: thrown })
  }
}

function quoteInput(since: When, text: string | null): string {
  return text === null ? JSON.stringify(since) : quote(text)
}
