import { WakefulError } from '../../error.ts'
import { isDuration, parseDuration } from '../durations/index.ts'
import { quote } from '../text/index.ts'
import { formatInstant, INSTANT_MIN } from '../zones/index.ts'
import { isWhenObject, resolveWhen, type When, type WhenContext } from './when.ts'

const SECONDS = /^\d+(?:\.\d+)?$/
const DATE = /^[+-]?\d{4,6}-?\d\d/

/**
 * Resolves the start of a list, such as `since` in a history, or its end. A duration means that long ago. A phrase for a future time
 * is refused, because the list would be empty. An instant may be in the future, because clocks differ.
 */
export function resolveSince(since: When, context: WhenContext, field = 'since'): number {
  const text = textOf(since)
  if (text !== null && SECONDS.test(text)) return resolveWhen({ unix: Number(text) }, context).first
  const ago = text?.replace(/ ago$/i, '') ?? ''
  if (isDuration(ago)) return Math.max(INSTANT_MIN, context.now - parseDuration(ago))
  const { rule, first } = resolvePast(since, text, context, field)
  const isInstant = text === null ? !(isWhenObject(since) && since.delay !== undefined) : DATE.test(text)
  if (rule.kind !== 'once')
    throw new WakefulError('since.recurs', { text: quoteInput(since, text) }, { field })
  if (isInstant || first <= context.now) return first
  const params = { text: quoteInput(since, text), instant: formatInstant(first) }
  throw new WakefulError('since.future', params, { field })
}

function textOf(since: When): string | null {
  if (typeof since === 'string') return since.trim()
  return isWhenObject(since) && typeof since.at === 'string' ? since.at.trim() : null
}

/** Resolves the input; the error for an invalid one names the forms of a past time. */
function resolvePast(since: When, text: string | null, context: WhenContext, field: string) {
  try {
    return resolveWhen(since, context)
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    if (text === null || DATE.test(text)) throw thrown.with({ field })
    throw new WakefulError(
      'since.malformed',
      { text: quote(text) },
      { code: thrown.code, cause: thrown, field },
    )
  }
}

function quoteInput(since: When, text: string | null): string {
  return text === null ? JSON.stringify(since) : quote(text)
}
