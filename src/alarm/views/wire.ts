import { formatInstant, type Rule, ruleOptions } from '../../time/index.ts'
import { ALARM_FIELDS, blank, type Field, WIRE_NAMES } from '../fields/index.ts'
import type { AlarmView } from './view.ts'

interface Row {
  readonly name: keyof AlarmView
  readonly wire: string
  /** What is left out, beside an empty text. */
  readonly omitted: unknown
  readonly omitsEmpty: boolean
}

const ROWS = WIRE_NAMES.map((name) => {
  const { wire, type, omits = [] } = ALARM_FIELDS[name] as Field
  const omitted = omits.length === 0 ? undefined : omits[0]
  return { name: name as keyof AlarmView, type, wire: wire!, omitted, omitsEmpty: omits.includes('') }
})
const INSTANTS: readonly Row[] = ROWS.filter(({ type }) => type === 'instant')
const SAME: readonly Row[] = ROWS.filter(({ type }) => ['text', 'choice', 'integer', 'target'].includes(type))
/** The fields in their order. The payload is not one of them: its text is put in front of all others. */
const BLANK = blank<Record<string, unknown>>(
  ROWS.filter(({ type }) => type !== 'payload').map(({ wire }) => wire),
)

/** An alarm as JSON text: Chronos's fields with their omissions, then Wakeful's own where they have a value. */
export function wireJson(view: AlarmView): string {
  const { rule, notes, payloadJson } = view
  const json = { ...BLANK }
  for (const { name, wire, omitted, omitsEmpty } of SAME) {
    const value = view[name]
    json[wire] = value === omitted || (omitsEmpty && value === '') ? undefined : value
  }
  for (const { name, wire } of INSTANTS) {
    const date = view[name] as Date | null
    json[wire] = date === null ? undefined : formatInstant(date.getTime())
  }
  json.cron_expr = rule.kind === 'cron' ? rule.cron : undefined
  json.rrule = rule.kind === 'rrule' ? rule.rrule : undefined
  json.every = rule.kind === 'every' ? rule.every : undefined
  json.when = whenOptions(rule)
  json.pool = view.pool === impliedPool(view.target) ? undefined : view.pool
  json.notes = notes.length === 0 ? undefined : notes
  const text = JSON.stringify(json)
  // As it was given: parsing it would lose digits beyond 2^53 (promise: verbatim).
  return payloadJson === null ? text : `{"payload":${payloadJson},${text.slice(1)}`
}

/** The pool of a target by its name: JSON has a pool only where it is another. */
function impliedPool(target: string): string {
  return /^(?:event|inbox|default)$|^https?:/.test(target) ? 'wakeful' : 'app'
}

/** The options of a rule, where it has any: `start, end, count, jitter, misfire, dst, exclude`. */
function whenOptions(rule: Rule): Record<string, unknown> | undefined {
  const bounds =
    rule.kind === 'once'
      ? {}
      : {
          ...(rule.start !== undefined && { start: formatInstant(rule.start) }),
          ...(rule.end !== undefined && { end: formatInstant(rule.end) }),
          ...(rule.count !== undefined && { count: rule.count }),
        }
  const options = { ...bounds, ...ruleOptions(rule) }
  return Object.keys(options).length === 0 ? undefined : options
}
