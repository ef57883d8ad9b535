import { WakefulError } from '../../error.ts'
import { DAY_S } from '../civil/index.ts'
import { type RruleDate, readRruleDate } from '../rrule/index.ts'
import { LABEL_LENGTH_MAX, normalizeLabel, quote } from '../text/index.ts'

/** A parsed line of an .ics file: NAME;PARAMETER=value:VALUE. */
interface IcsLine {
  name: string
  parameters: ReadonlyMap<string, string>
  value: string
  /** The line number in the file, from 1; for a folded line, of its first part. */
  number: number
}

/** An event of an .ics file, reduced to what matters for days off. Days are counted from 1970-01-01. */
export interface IcsEvent {
  /** The line number of its BEGIN. */
  number: number
  uid: string
  label: string
  cancelled: boolean
  /** Its first day; null if it has a clock time, and is no day off. */
  day: number | null
  /** How many days it lasts. */
  span: number
  /** Its RRULE lines. */
  rules: IcsLine[]
  /** Days of RDATE. */
  added: number[]
  /** Days of EXDATE. */
  removed: ReadonlySet<number>
  /** RECURRENCE-ID: the day of a series that this event replaces. */
  replaces: number | null
}

/** The most days in a calendar: two hundred years of a hundred holidays. */
export const CALENDAR_DAYS_MAX = 20_000

const ONCE = ['UID', 'DTSTART', 'DTEND', 'DURATION', 'SUMMARY', 'STATUS', 'RECURRENCE-ID']
const DURATION = /^\+?P(?:(\d{1,5})W|(\d{1,5})D)(?:T0+[HMS])*$/i
/** The longest .ics text accepted. */
const ICS_LENGTH_MAX = 2 * 1024 * 1024

/** Parameters may have any character in quotes. */
const LINE = /^([a-z0-9-]+)((?:;(?:"[^"]*"|[^:;"])*)*):(.*)$/is
const PARAMETER = /;((?:"[^"]*"|[^;"=])*)=?((?:"[^"]*"|[^;"])*)/g

/** Parses the events of an .ics file. */
export function readIcsEvents(text: string): IcsEvent[] {
  const lines = readIcsLines(text)
  const [first] = lines
  if (first?.name !== 'BEGIN' || first.value.trim().toUpperCase() !== 'VCALENDAR') {
    throw new WakefulError('ics.no_begin', { line: first?.number ?? 1 })
  }
  const events: IcsEvent[] = []
  const open: { name: string; number: number }[] = []
  let inEvent: IcsLine[] = []
  for (const line of lines) {
    const part = line.value.trim().toUpperCase()
    if (line.name === 'BEGIN') {
      if (part === 'VEVENT' && open.some(({ name }) => name === 'VEVENT'))
        throw new WakefulError('ics.nested_event', { line: line.number })
      open.push({ name: part, number: line.number })
      if (part === 'VEVENT') inEvent = []
    } else if (line.name === 'END') {
      const begun = open.pop()
      if (begun?.name !== part) {
        throw new WakefulError('ics.end', { line: line.number, part: quote(part) })
      }
      if (part === 'VEVENT') events.push(readEvent(inEvent, begun.number))
    } else if (open.length === 0)
      throw new WakefulError('ics.outside', { line: line.number, part: quote(line.name) })
    else if (open.at(-1)!.name === 'VEVENT') inEvent.push(line)
  }
  const unclosed = open.at(-1)
  if (unclosed !== undefined)
    throw new WakefulError('ics.no_end', { line: unclosed.number, part: quote(unclosed.name) })
  return events
}

function readEvent(lines: readonly IcsLine[], number: number): IcsEvent {
  const all = (name: string) => lines.filter((line) => line.name === name)
  const one = new Map(ONCE.map((name) => [name, only(all(name))]))
  const start = one.get('DTSTART')
  const cancelled = one.get('STATUS')?.value.trim().toUpperCase() === 'CANCELLED'
  if (start === undefined && !cancelled) throw new WakefulError('ics.no_start', { line: number })
  const obsolete = all('EXRULE')[0]
  if (obsolete !== undefined) throw new WakefulError('ics.exrule', { line: obsolete.number })
  const date = start === undefined ? undefined : dateOf(start)
  const day = date?.kind === 'date' ? date.second / DAY_S : null
  const replaced = one.get('RECURRENCE-ID')
  if (replaced?.parameters.has('RANGE'))
    throw new WakefulError('ics.this_and_future', { line: replaced.number })
  return {
    number,
    uid: one.get('UID')?.value.trim() ?? '',
    // Cut first, so that a huge label costs no more than a long one.
    label: normalizeLabel(unescaped((one.get('SUMMARY')?.value ?? '').slice(0, 4 * LABEL_LENGTH_MAX))),
    cancelled,
    day,
    span: day === null ? 1 : lengthInDays(day, one.get('DTEND'), one.get('DURATION')),
    rules: all('RRULE'),
    added: all('RDATE').flatMap(daysOf),
    removed: new Set(all('EXDATE').flatMap(daysOf)),
    replaces: replaced === undefined ? null : daysOf(replaced)[0]!,
  }
}

function only(lines: IcsLine[]): IcsLine | undefined {
  if (lines.length > 1) throw new WakefulError('ics.twice', { line: lines[1]!.number, part: lines[1]!.name })
  return lines[0]
}

function dateOf(line: IcsLine): RruleDate {
  const date = withLineNumber(line, () => readRruleDate(line.value.trim(), line.name))
  if (line.parameters.get('VALUE')?.toUpperCase() === 'DATE' && date.kind !== 'date') {
    const params = { line: line.number, part: line.name, value: quote(line.value) }
    throw new WakefulError('ics.date_with_time', params)
  }
  return date
}

/** The days of a line of dates; for times and periods, the day of their start. */
function daysOf(line: IcsLine): number[] {
  return line.value.split(',').map((item) => {
    const [date = ''] = item.trim().split(/[T/]/i)
    return withLineNumber(line, () => readRruleDate(date, line.name)).second / DAY_S
  })
}

/** How many days an event lasts; DTEND is exclusive. */
function lengthInDays(day: number, end: IcsLine | undefined, duration: IcsLine | undefined): number {
  if (end !== undefined) {
    const date = dateOf(end)
    if (date.kind !== 'date') throw new WakefulError('ics.end_with_time', { line: end.number })
    const span = date.second / DAY_S - day
    if (span < 0) throw new WakefulError('ics.end_before_start', { line: end.number })
    return bounded(span, end)
  }
  if (duration === undefined) return 1
  const match = DURATION.exec(duration.value.trim())
  if (match === null) {
    throw new WakefulError('ics.duration', { line: duration.number, value: quote(duration.value) })
  }
  return bounded(Number(match[1] ?? 0) * 7 + Number(match[2] ?? 0), duration)
}

function bounded(span: number, { number }: IcsLine): number {
  if (span > CALENDAR_DAYS_MAX)
    throw new WakefulError('ics.too_long', { line: number, count: span, max: CALENDAR_DAYS_MAX })
  // Some programs write the start as DTEND of a one-day event.
  return Math.max(1, span)
}

/** Runs `read`, and adds the line number to its error. */
export function withLineNumber<Result>({ number }: Pick<IcsLine, 'number'>, read: () => Result): Result {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof WakefulError)) throw cause
    const errors = [cause.with({ code: 'invalid_request' })]
    throw new WakefulError('ics.at_line', { line: number }, { errors, cause })
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' || escaped === 'N' ? ' ' : escaped))
}

/** Parses an .ics text into lines, and unfolds them. */
function readIcsLines(text: string): IcsLine[] {
  if (typeof text !== 'string' || text.length > ICS_LENGTH_MAX) {
    throw new WakefulError('ics.too_large', {})
  }
  const lines: { parts: string[]; number: number }[] = []
  const physical = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (const [index, line] of physical.entries()) {
    const folded = line.startsWith(' ') || line.startsWith('\t')
    if (folded && lines.length > 0) lines.at(-1)!.parts.push(line.slice(1))
    else if (line.trim() !== '') lines.push({ parts: [line], number: index + 1 })
  }
  return lines.map(({ parts, number }) => readLine(parts.join(''), number))
}

function readLine(line: string, number: number): IcsLine {
  const [, name, parameters, value] = LINE.exec(line) ?? []
  if (name === undefined || parameters === undefined || value === undefined) {
    throw new WakefulError('ics.not_a_line', { line: number, text: quote(line) })
  }
  const pairs = [...parameters.matchAll(PARAMETER)].map(([, key, text]): [string, string] => [
    key!.trim().toUpperCase(),
    text!.trim().replace(/^"(.*)"$/, '$1'),
  ])
  return { name: name.toUpperCase(), parameters: new Map(pairs), value, number }
}
