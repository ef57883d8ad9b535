import { ALARM_FIELDS, type Field } from '../alarm/fields/table.ts'
import type { SetOptions } from '../alarm/index.ts'
import { inField, typeName, unknownField, WakefulError } from '../errors/core.ts'
import { jsonText } from '../json/index.ts'
import type { EditFields, SetManyItem } from '../library/index.ts'
import {
  assertInstant,
  formatDuration,
  instantOfUnix,
  KINDS,
  WHEN_NAMES,
  WHEN_OPTIONS,
} from '../time/durations/index.ts'
import type { Moment, Rule, When, WhenObject } from '../time/index.ts'

type Fields = Record<string, unknown>

/** Fields with JSON of the user, which `rawJson(text)` sends byte for byte (promise: verbatim). */
const VERBATIM: ReadonlySet<string> = new Set(['payload', 'data'])

const WIRE: ReadonlyMap<string, string | null> = new Map(
  Object.entries<Field>(ALARM_FIELDS).map(([name, { wire }]) => [name, wire]),
)

/** A body as JSON. */
export function bodyText(fields: Fields): string {
  const members = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    const text = VERBATIM.has(name) ? jsonText(value, name) : JSON.stringify(value)
    return `${JSON.stringify(name)}:${text}`
  })
  return `{${members.join(',')}}`
}

/** The body of a set. */
export function setFields(call: string, item: SetManyItem, zone: string | undefined): Fields {
  const { when, timezone, ...options } = assertObject(call, item)
  return { ...whenFields(when, timezone === undefined ? zone : timezone), ...optionFields(call, options) }
}

/** The body of an edit. Without a zone, the alarm keeps its own. */
export function editFields(fields: EditFields): Fields {
  const { when, timezone, ...options } = assertObject('edit', fields)
  if (when === undefined) {
    if (timezone === undefined) return optionFields('edit', options)
    throw new WakefulError('field.needs', { other: 'when' }, { field: 'timezone' })
  }
  return { ...whenFields(when, timezone), ...optionFields('edit', options) }
}

/** Refuses options that are no object. */
export function assertObject<T>(call: string, options: T): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  throw new WakefulError('options.not_object', { call, value: typeName(options) })
}

function optionFields(call: string, options: SetOptions): Fields {
  const { backoff, ...rest } = options
  // Over the network these stand beside the options, and would be taken for those of the time.
  const misplaced = Object.keys(rest).find((name) => WHEN_OPTIONS.includes(name))
  if (misplaced !== undefined)
    throw new WakefulError('field.misplaced', { call, name: misplaced }, { field: misplaced })
  const isObject = typeof backoff === 'object' && backoff !== null && !Array.isArray(backoff)
  return { ...wireNames(rest as Fields), backoff: isObject ? wireNames(backoff as Fields) : backoff }
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
    return { ...inField('at', () => momentFields(when)), ...(zone !== undefined && { timezone: zone }) }
  const { at, unix, cron, start, end, timezone, ...rest } = when
  const unknown = Object.keys(rest).find((name) => !WHEN_NAMES.includes(name))
  if (unknown !== undefined) throw unknownField(unknown, WHEN_NAMES)
  const kinds = KINDS.filter((kind) => when[kind] !== undefined)
  if (kinds.length > 1) throw new WakefulError('when.kinds', { fields: KINDS, others: kinds })
  const own = timezone === undefined && needsZone(when) ? zone : timezone
  return {
    ...(at !== undefined && inField('at', () => momentFields(at))),
    ...(unix !== undefined && { fire_at: isoOfUnix(unix) }),
    ...(cron !== undefined && { cron_expr: cron }),
    ...(start !== undefined && { start: inField('start', () => momentText(start)) }),
    ...(end !== undefined && { end: inField('end', () => momentText(end)) }),
    ...(own !== undefined && { timezone: own }),
    ...rest,
  }
}

/** The rule of an alarm as a time that can be sent; any other time as it is. */
export function ruleWhen(when: When | Rule): When {
  if (!isWhenObject(when as When) || !('kind' in (when as object))) return when as When
  const rule = when as Rule
  const { timezone, misfire } = rule
  const isAll = typeof misfire === 'object'
  const missed = isAll
    ? { all: { max: misfire.all.max, within: formatDuration(misfire.all.withinMs) } }
    : misfire
  const shared = { timezone, ...(missed !== undefined && { misfire: missed }) }
  if (rule.kind === 'once') return { at: new Date(rule.at), ...shared }
  const { anchor, start, end, count, jitterMs, exclude } = rule
  // Intervals without a start are counted from when they were set.
  const isInterval = rule.kind === 'every' || (rule.kind === 'cron' && /@every/i.test(rule.cron))
  const from = start ?? (isInterval ? anchor : undefined)
  return {
    ...shared,
    ...(rule.kind === 'cron' && { cron: rule.cron }),
    ...(rule.kind === 'every' && { every: rule.every }),
    ...(rule.kind === 'rrule' && { rrule: rule.rrule }),
    ...(from !== undefined && { start: new Date(from) }),
    ...(end !== undefined && { end: new Date(end) }),
    ...(count !== undefined && { count }),
    ...(jitterMs !== undefined && { jitter: formatDuration(jitterMs) }),
    ...('dst' in rule && rule.dst !== undefined && { dst: rule.dst }),
    ...(exclude !== undefined && { exclude: { ...exclude, weekend: exclude.weekend ?? [] } }),
  }
}

/** Whether a time needs a zone: not options alone, which keep the zone of the rule, and not a rule that names its zone. */
function needsZone(when: WhenObject): boolean {
  if (typeof when.cron === 'string' && /^\s*(?:CRON_)?TZ=/i.test(when.cron)) return false
  if (typeof when.rrule === 'string' && /^\s*DTSTART(?:[^\n:]*TZID=|[^\n]*Z\s*$)/im.test(when.rrule))
    return false
  return KINDS.some((kind) => when[kind] !== undefined)
}

/** The start of a list, or another instant: plain language, a duration, or seconds since 1970 work too. */
export function sinceText(since: When, field = 'since'): string {
  if (!isWhenObject(since)) return inField(field, () => momentText(since))
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
  throw new WakefulError('instant.type', { value: typeName(input) })
}

function isoOf(date: Date): string {
  if (!Number.isFinite(date.getTime())) throw new WakefulError('instant.invalid_date', {})
  const text = date.toISOString()
  assertInstant(date.getTime(), text)
  return text
}

function isoOfUnix(unix: unknown): string {
  return new Date(instantOfUnix(unix)).toISOString()
}

function isWhenObject(when: When): when is WhenObject {
  return Object.prototype.toString.call(when) === '[object Object]'
}
