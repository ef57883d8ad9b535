import { ALARM_FIELDS, type Field } from '../alarm/fields/table.ts'
import type { SetOptions } from '../alarm/index.ts'
import { inField, WakefulError } from '../errors/core.ts'
import { jsonText } from '../json/index.ts'
import type { EditFields, SetManyItem } from '../library/index.ts'
import type { Moment, When, WhenObject } from '../time/index.ts'

type Fields = Record<string, unknown>

/** Fields with JSON of the user, which `rawJson(text)` sends byte for byte (promise: verbatim). */
const VERBATIM: ReadonlySet<string> = new Set(['payload', 'data'])

/** The wire names of fields. */
const WIRE: ReadonlyMap<string, string | null> = new Map(
  Object.entries<Field>(ALARM_FIELDS).map(([name, { wire }]) => [name, wire]),
)

/** A body as JSON. */
export function bodyText(fields: Fields): string {
  const members = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    const text = VERBATIM.has(name) ? jsonText(value) : JSON.stringify(value)
    return `${JSON.stringify(name)}:${text}`
  })
  return `{${members.join(',')}}`
}

/** The body of a set. */
export function setFields(item: SetManyItem, zone: string | undefined): Fields {
  const { when, timezone, ...options } = item
  return { ...whenFields(when, timezone ?? zone), ...optionFields(options) }
}

/** The body of an edit. Without a zone, the alarm keeps its own. */
export function editFields({ when, timezone, ...options }: EditFields): Fields {
  if (when === undefined) {
    if (timezone === undefined) return optionFields(options)
    throw new WakefulError('field.needs', { other: 'when' }, { field: 'timezone' })
  }
  return { ...whenFields(when, timezone), ...optionFields(options) }
}

function optionFields(options: SetOptions): Fields {
  const { backoff, ...rest } = options
  return {
    ...wireNames(rest as Fields),
    ...(backoff !== undefined && { backoff: wireNames(backoff as Fields) }),
  }
}

/** Options with their wire names. An unknown one is sent too, in snake_case, so that the server reports it. */
export function wireNames(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [WIRE.get(name) ?? snakeCase(name), value]),
  )
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The time fields of a body; `zone` applies to a time that names none. */
export function whenFields(when: When, zone?: string): Fields {
  if (!isWhenObject(when))
    return { ...inField('when', () => momentFields(when)), ...(zone !== undefined && { timezone: zone }) }
  const { at, unix, cron, start, end, timezone, ...rest } = when
  if (at !== undefined && unix !== undefined)
    throw new WakefulError('field.both', { other: 'unix' }, { field: 'at' })
  const own = timezone ?? (needsZone(when) ? zone : undefined)
  return {
    ...(at !== undefined && momentFields(at)),
    ...(unix !== undefined && { fire_at: isoOfUnix(unix) }),
    ...(cron !== undefined && { cron_expr: cron }),
    ...(start !== undefined && { start: momentText(start) }),
    ...(end !== undefined && { end: momentText(end) }),
    ...(own !== undefined && { timezone: own }),
    ...rest,
  }
}

const KINDS = ['at', 'unix', 'delay', 'cron', 'every', 'rrule'] as const

/** Whether a time needs a zone: not options alone, which keep the zone of the rule, and not a rule that names its zone. */
function needsZone(when: WhenObject): boolean {
  if (typeof when.cron === 'string' && /^\s*(?:CRON_)?TZ=/i.test(when.cron)) return false
  if (typeof when.rrule === 'string' && /^\s*DTSTART(?:[^\n:]*TZID=|[^\n]*Z\s*$)/im.test(when.rrule))
    return false
  return KINDS.some((kind) => when[kind] !== undefined)
}

/** The start of a list: an instant, plain language, a duration, or seconds since 1970. */
export function sinceText(since: When): string {
  if (!isWhenObject(since)) return momentText(since)
  const { at, unix, ...others } = since
  if (Object.values(others).every((value) => value === undefined)) {
    if (at !== undefined && unix === undefined) return momentText(at)
    if (unix !== undefined && at === undefined) return isoOfUnix(unix)
  }
  throw new WakefulError('client.since', {}, { field: 'since' })
}

function momentFields(moment: Moment): Fields {
  return typeof moment === 'string' ? { when: moment } : { fire_at: momentText(moment) }
}

function momentText(moment: Moment): string {
  const input: unknown = moment
  if (typeof input === 'string') return input
  if (typeof input === 'number') throw new WakefulError('instant.bare_number', { value: String(input) })
  const tag = Object.prototype.toString.call(input)
  if (tag === '[object Temporal.Instant]') return String(input)
  if (tag === '[object Date]') return isoOf(input as Date)
  throw new WakefulError('instant.type', {})
}

function isoOf(date: Date): string {
  if (Number.isFinite(date.getTime())) return date.toISOString()
  throw new WakefulError('instant.invalid_date', {})
}

function isoOfUnix(unix: unknown): string {
  if (typeof unix !== 'number' || !Number.isFinite(unix) || Math.abs(unix) > 8.64e12)
    throw new WakefulError(
      'field.invalid',
      { expected: 'a number of seconds', value: String(unix) },
      { field: 'unix', code: 'invalid_time' },
    )
  // Rounded to a microsecond first, as in the library, because 1736882445.123 * 1000 is not an integer in floating point.
  return new Date(Math.ceil(Number((unix * 1000).toFixed(3)))).toISOString()
}

function isWhenObject(when: When): when is WhenObject {
  return Object.prototype.toString.call(when) === '[object Object]'
}
