import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import { knownTimezone } from '../zones/index.ts'
import { type RruleDate, type RruleParts, readRruleDate, readRruleParts } from './parts.ts'

/** A date or time of RDATE or EXDATE, with the zone of its line if it has one. */
export type RruleMoment = RruleDate & { timezone?: string }

/** A parsed recurrence of iCalendar. */
export interface RruleText {
  /** The zone of DTSTART: its TZID, or UTC if it ends in Z. */
  timezone?: string
  /** DTSTART. */
  start?: RruleDate
  rules: RruleParts[]
  /** RDATE. */
  added: RruleMoment[]
  /** EXDATE. */
  removed: RruleMoment[]
}

/** The longest text accepted: enough for hundreds of EXDATEs. */
export const RRULE_LENGTH_MAX = 8000

/** Each rule is searched separately, so their number limits the time that a text can cost. */
const RULES_MAX = 4
const LINE = /^([\w-]+)((?:;[^:;="]*=(?:"[^"]*"|[^:;"]*))*):(.*)$/
const PARAMETER = /;([^:;="]*)=(?:"([^"]*)"|([^:;"]*))/g
type Parameters = ReadonlyMap<string, string>

const LINES: Readonly<Record<string, (value: string, parameters: Parameters, read: RruleText) => void>> = {
  DTSTART: setStart,
  RRULE: addRule,
  RDATE: (value, parameters, read) => read.added.push(...readDates('RDATE', value, parameters)),
  EXDATE: (value, parameters, read) => read.removed.push(...readDates('EXDATE', value, parameters)),
}
const PERIOD_END = /^(?:\d{8}T\d{6}Z?|\+?P[\dDTHMSW]+)$/i

/**
 * Parses a recurrence: lines of DTSTART, RRULE (the name is optional), RDATE and EXDATE as in iCalendar, folded or not.
 * Unknown lines are refused, because they may change when it fires.
 */
export function parseRrule(text: string): RruleText {
  if (typeof text !== 'string' || text.length > RRULE_LENGTH_MAX) {
    throw new WakefulError('rrule.too_long', { max: RRULE_LENGTH_MAX })
  }
  const read: RruleText = { rules: [], added: [], removed: [] }
  const unfolded = text.replace(/(?:\r\n|\n|\r)[ \t]/g, '')
  for (const line of unfolded.split(/\r\n|\n|\r/)) if (line.trim() !== '') readLine(line.trim(), read)
  if (read.rules.length === 0 && read.added.length === 0) {
    throw new WakefulError('rrule.missing', { text: quote(text) })
  }
  return read
}

function readLine(line: string, read: RruleText): void {
  const match = /^[A-Z]+\s*=/i.test(line) ? [line, 'RRULE', '', line] : LINE.exec(line)
  if (match === null) throw new WakefulError('rrule.not_a_line', { text: quote(line) })
  const name = match[1]!.toUpperCase()
  const add = Object.hasOwn(LINES, name) ? LINES[name] : undefined
  if (add !== undefined) {
    add(match[3]!.trim(), readParameters(name, match[2]!), read)
    return
  }
  if (name === 'EXRULE') throw new WakefulError('rrule.exrule', {})
  throw new WakefulError('rrule.unknown_line', { part: quote(match[1]) })
}

function addRule(value: string, _: Parameters, read: RruleText): void {
  read.rules.push(readRruleParts(value))
  if (read.rules.length > RULES_MAX) throw new WakefulError('rrule.too_many', { max: RULES_MAX })
}

function setStart(value: string, parameters: Parameters, read: RruleText): void {
  if (read.start !== undefined) throw new WakefulError('rrule.line_twice', { part: 'DTSTART' })
  const moment = readMoment('DTSTART', value, parameters)
  read.start = { kind: moment.kind, second: moment.second }
  const timezone = moment.kind === 'utc' ? 'UTC' : moment.timezone
  if (timezone !== undefined) read.timezone = timezone
}

function readParameters(name: string, text: string): Parameters {
  const found = new Map<string, string>()
  for (const [, key, quoted, plain] of text.matchAll(PARAMETER)) {
    const parameter = key!.trim().toUpperCase()
    const known = name === 'RRULE' ? [] : ['TZID', 'VALUE']
    if (!known.includes(parameter) || found.has(parameter)) {
      throw new WakefulError('rrule.parameter', { part: name, name: quote(key), known })
    }
    found.set(parameter, (quoted ?? plain ?? '').trim())
  }
  return found
}

function readDates(name: string, value: string, parameters: Parameters): RruleMoment[] {
  const moments = new Map(value.split(',').map((item) => [item, readMoment(name, item.trim(), parameters)]))
  return [...moments.values()]
}

function readMoment(name: string, value: string, parameters: Parameters): RruleMoment {
  const type = parameters.get('VALUE')?.toUpperCase()
  const period = name === 'RDATE' && type === 'PERIOD'
  const date = readRruleDate(period ? startOfPeriod(value) : value, name)
  const expected = date.kind === 'date' ? 'DATE' : 'DATE-TIME'
  if (type !== undefined && type !== expected && !(period && date.kind !== 'date')) {
    const params = { part: name, type: quote(type), value: quote(value), expected }
    throw new WakefulError('rrule.value_type', params)
  }
  const zone = parameters.get('TZID')
  if (zone === undefined) return date
  if (date.kind === 'utc') throw new WakefulError('rrule.utc_with_zone', { part: name, value: quote(value) })
  // A leading slash marks a globally unique name, as IANA names are.
  return { ...date, timezone: knownTimezone(zone.replace(/^\//, '')) }
}

/** The start of a period: an alarm has no duration. */
function startOfPeriod(value: string): string {
  const [start, end, more] = value.split('/') as [string, string?, string?]
  if (end !== undefined && more === undefined && PERIOD_END.test(end)) return start
  throw new WakefulError('rrule.period', { value: quote(value) })
}
