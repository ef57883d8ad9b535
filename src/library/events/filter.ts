import { type AlarmEventType, assertChoice, assertText, EVENT_TYPES, ORIGINS } from '../../alarm/index.ts'
import { display, WakefulError } from '../../error.ts'
import type { EventFilter } from '../../stores/index.ts'
import { closest, formatInstant, resolveSince, type WhenContext } from '../../time/index.ts'
import type { EventsOptions } from './api.ts'
import { wakefulPrefix } from './events.ts'

/** What operators do is logged under types of this prefix (`admin.key_created`), which are not listed. */
const UNLISTED_PREFIX = 'admin'
const TYPES_MAX = 100
/** How a text says all types with one beginning. */
const ANY = '.*'

/** The filter that the options of a read of the log ask for; undefined for all events. */
export function eventFilterOf(
  options: EventsOptions,
  context: WhenContext,
  nameBytesMax: number,
): EventFilter | undefined {
  const { type, origin, subject, correlationId, since, until } = options
  const filter = {
    ...(type !== undefined && { types: typesOf(type) }),
    ...(origin !== undefined && { origin: assertChoice('origin', origin, ORIGINS) }),
    ...(subject !== undefined && { subject: assertText('subject', subject, nameBytesMax) }),
    ...(correlationId !== undefined && {
      correlationId: assertText('correlationId', correlationId, nameBytesMax),
    }),
    ...(since !== undefined && { since: resolveSince(since, context) }),
    ...(until !== undefined && { until: resolveSince(until, context, 'until') }),
  }
  if (filter.since !== undefined && filter.until !== undefined && filter.since >= filter.until) {
    const params = { since: formatInstant(filter.since), until: formatInstant(filter.until) }
    throw new WakefulError('event.since_after_until', params, { field: 'until' })
  }
  return Object.keys(filter).length === 0 ? undefined : filter
}

/** The types in a list, or in one text with commas. Rejects types that no event can have. */
function typesOf(input: unknown): string[] {
  const list = typeof input === 'string' ? [input] : input
  if (!Array.isArray(list) || list.some((type) => typeof type !== 'string'))
    throw new WakefulError(
      'field.malformed',
      { expected: 'a type of event, or a list of them' },
      { field: 'type' },
    )
  const types = new Set(
    (list as string[])
      .flatMap((each) => each.split(','))
      .map((type) => type.trim())
      .filter((type) => type !== ''),
  )
  if (types.size === 0) throw new WakefulError('field.empty', {}, { field: 'type' })
  if (types.size > TYPES_MAX)
    throw new WakefulError('field.malformed', { expected: `at most ${TYPES_MAX} types` }, { field: 'type' })
  return [...types].map(typeOf)
}

/** A type, or the beginning of types with its dot. */
function typeOf(input: string): string {
  const beginning = input.endsWith(ANY) ? input.slice(0, -1) : null
  if (/[*%]/.test(beginning ?? input)) {
    const expected = 'a type such as alarm.fired, or alarm.* for all that begin with alarm.'
    throw new WakefulError(
      'field.invalid',
      { expected, value: display(input.slice(0, 60)) },
      { field: 'type' },
    )
  }
  const meant = EVENT_TYPES.find((type) => type.endsWith(`.${input}`))
  if (meant !== undefined) throw unknownType(input, meant)
  const prefix = wakefulPrefix(input)
  const isKnown =
    beginning === null
      ? EVENT_TYPES.includes(input as AlarmEventType)
      : EVENT_TYPES.some((type) => type.startsWith(beginning))
  if (prefix === null || prefix === UNLISTED_PREFIX || isKnown) return beginning ?? input
  throw unknownType(input, closest(input, EVENT_TYPES))
}

function unknownType(input: string, near: string | null): WakefulError {
  const value = display(input.slice(0, 60))
  return new WakefulError('event.type_unknown', { value, near, known: EVENT_TYPES }, { field: 'type' })
}
