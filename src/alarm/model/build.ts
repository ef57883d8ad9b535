import { WakefulError } from '../../error.ts'
import type { CalendarLookup, HolidayCalendar, Resolved, Rule } from '../../time/index.ts'
import { blank, FIELD_COLUMNS, type FieldContext, type SetOptions, writeOptions } from '../fields/index.ts'
import { type Alarm, NO_CALENDARS, type Scope } from './alarm.ts'

/** What building an alarm needs. */
export interface BuildContext extends FieldContext {
  readonly newId: () => string
  /** The calendars of the alarm's tenant. */
  readonly calendars?: CalendarLookup
}

/** The properties of a record that are not fields with a column of their own. */
const OTHERS = [
  'tenant', 'owner', 'id', 'generation', 'rule', 'calendars', 'target', 'payload', 'backoff', 'onFailure', 'createdAt',
  'updatedAt', 'pausedAt', 'cancelledAt', 'notes',
] as const // biome-ignore format: a list

/** An alarm with only the defaults. */
const BLANK = blank<Alarm>([...OTHERS, ...FIELD_COLUMNS.map(({ name }) => name as keyof Alarm)])
Object.assign(BLANK, Object.fromEntries(FIELD_COLUMNS.map(({ name, defaultValue }) => [name, defaultValue])))

/** Builds the record of a new alarm, or refuses with what was wrong. */
export function buildAlarm(
  scope: Scope,
  resolved: Resolved,
  options: SetOptions,
  now: number,
  context: BuildContext,
): Alarm {
  const { defaults, calendars } = context
  const record = { ...BLANK }
  record.tenant = scope.tenant
  record.owner = scope.owner
  record.id = context.newId()
  record.generation = 1
  record.rule = resolved.rule
  record.calendars = calendars === undefined ? NO_CALENDARS : namedBy(resolved.rule, calendars)
  record.createdAt = now
  record.updatedAt = now
  record.notes = resolved.notes
  record.maxFailures = defaults.maxFailures
  record.completionTimeoutMs = defaults.completionTimeoutMs
  record.backoff = { baseMs: defaults.backoffBaseMs, capMs: defaults.backoffCapMs }
  writeOptions(record, options, 'set', context)
  if (record.target === null) {
    throw new WakefulError('target.missing', {}, { field: 'target' })
  }
  if (record.correlationId === '') record.correlationId = record.id
  return record
}

/** The calendars a rule names. */
export function namedBy(rule: Rule, find: CalendarLookup): readonly HolidayCalendar[] {
  const names = rule.kind === 'once' ? undefined : rule.exclude?.calendars
  return names === undefined ? NO_CALENDARS : names.flatMap((name) => find(name) ?? [])
}

/** The fields of a record that an edit names, checked like those of a new one. */
export function editedFields(options: SetOptions, alarm: Alarm, context: FieldContext): Partial<Alarm> {
  const fields: { -readonly [K in keyof Alarm]?: Alarm[K] } = {}
  writeOptions(fields, options, 'edit', context)
  if (fields.correlationId === '') fields.correlationId = alarm.id
  return fields
}
