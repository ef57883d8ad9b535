import { WakefulError } from '../../error.ts'
import { yearOf, yearStart } from '../civil/index.ts'
import { DAY_MS } from '../durations/index.ts'
import { compileRrule, parseRrule } from '../rrule/index.ts'
import { counted, LABEL_LENGTH_MAX } from '../text/index.ts'
import { formatDay } from '../zones/index.ts'
import { CALENDAR_DAYS_MAX, type IcsEvent, readIcsEvents, withLineNumber } from './ics-event.ts'

/** The labels of days off by day since 1970-01-01, and notes about what was left out. */
export interface IcsDays {
  days: Map<number, string>
  notes: string[]
}

const YEARS_EXPANDED = 100
/** Bounds the work for any file: days written in all, including those written twice. */
const WRITES_MAX = 200_000
const RULES_MAX = 1000

/** Parses the days off of an .ics file: its all-day events. Recurring ones are expanded for a hundred years. */
export function readIcs(text: string, now: number): IcsDays {
  const events = readIcsEvents(text)
  const year = yearOf(Math.floor(now / DAY_MS))
  const range = { from: yearStart(year), to: yearStart(year + YEARS_EXPANDED) - 1 }
  const replaced = replacedDays(events)
  const days = new Map<number, string>()
  const left = { rules: RULES_MAX, writes: WRITES_MAX, past: 0 }
  for (const event of events) {
    if (event.cancelled || event.day === null) continue
    left.rules -= event.rules.length
    if (left.rules < 0) throw new WakefulError('ics.too_many_rules', { line: event.number, max: RULES_MAX })
    const without = event.replaces === null ? replaced.get(event.uid) : undefined
    for (const day of startsOf(event, range)) {
      countWrite(event, left)
      if (without?.has(day) || event.removed.has(day)) continue
      for (let index = 0; index < event.span; index++) write(days, day + index, event, left)
    }
  }
  return { days, notes: notesOf(events, left.past, year + YEARS_EXPANDED - 1) }
}

/** The days of each series that another event of the file replaces. */
function replacedDays(events: readonly IcsEvent[]): Map<string, Set<number>> {
  const replaced = new Map<string, Set<number>>()
  for (const { uid, replaces } of events) {
    if (replaces === null || uid === '') continue
    const days = replaced.get(uid) ?? new Set()
    replaced.set(uid, days.add(replaces))
  }
  return replaced
}

/** The days on which an event begins, including those of EXDATE. */
function* startsOf(event: IcsEvent, { from, to }: { from: number; to: number }): Generator<number> {
  const single = event.rules.length === 0 ? [event.day!, ...event.added] : event.added
  yield* new Set(single)
  for (const rule of event.rules) {
    const start = formatDay(event.day!).replaceAll('-', '')
    const text = `DTSTART;VALUE=DATE:${start}\nRRULE:${rule.value.trim()}`
    withLineNumber(rule, () => parseRrule(text))
    const next = daysOfRule(text)
    for (let day = next(from - event.span); day !== null && day <= to; day = next(day)) yield day
  }
}

/** Finds the day of a rule after another; a rule whose UNTIL is before its start has none. */
function daysOfRule(text: string): (day: number) => number | null {
  try {
    const { wallTimes } = compileRrule(text, { timezone: 'UTC', anchor: 0 })
    return (day) => {
      const wall = wallTimes.next((day + 1) * DAY_MS - 1)
      return wall === null ? null : Math.floor(wall / DAY_MS)
    }
  } catch (cause) {
    if (cause instanceof WakefulError) return () => null
    throw cause
  }
}

function write(
  days: Map<number, string>,
  day: number,
  event: IcsEvent,
  left: { writes: number; past: number },
): void {
  countWrite(event, left)
  if (days.size > CALENDAR_DAYS_MAX) throw tooManyDaysError(event)
  if (day < 0) left.past++
  else days.set(day, joined(days.get(day), event.label.trim()))
}

function countWrite(event: IcsEvent, left: { writes: number }): void {
  left.writes--
  if (left.writes < 0) throw tooManyDaysError(event)
}

function tooManyDaysError({ number }: IcsEvent): WakefulError {
  return new WakefulError('ics.too_many_days', { line: number, max: CALENDAR_DAYS_MAX })
}

/** Both labels of a day with two events. */
function joined(before: string | undefined, label: string): string {
  if (before === undefined || before === '') return label
  const known = label === '' || before.length > LABEL_LENGTH_MAX || before.split(' / ').includes(label)
  return known ? before : `${before} / ${label}`
}

function notesOf(events: readonly IcsEvent[], past: number, lastYear: number): string[] {
  const live = events.filter(({ cancelled }) => !cancelled)
  const timed = live.filter(({ day }) => day === null).length
  const cancelled = events.length - live.length
  const recurs = live.some(({ day, rules }) => day !== null && rules.length > 0)
  return [
    ...(timed > 0 ? [`${counted(timed, 'event')} with a clock time left out: not a day off`] : []),
    ...(cancelled > 0 ? [`${counted(cancelled, 'cancelled event')} left out`] : []),
    ...(past > 0 ? [`${counted(past, 'day')} before 1970 left out`] : []),
    ...(recurs ? [`what recurs is written out up to the end of ${lastYear}: read it again before`] : []),
  ]
}
