import { reasons } from '../reason.ts'

/** Refusals about days off and the calendars that name them. */
export const DAYS_OFF_REASONS = reasons('invalid_request', {
  // Days off.
  'exclude.all_days': 'invalid_rule: All seven days of the week are off. Leave at least one.',
  'exclude.malformed': ({ value }: { value: string }, words) =>
    `${words.name('exclude')} ${value} is not understood. ${excludeForms(words.interface)}`,
  'exclude.move_without_days': '{field} needs days off. Name calendars or weekdays.',
  'exclude.unknown_calendar': {
    code: 'invalid_rule',
    text: ({ name, near, known }: { name: string; near: string | null; known: readonly string[] }, words) => {
      if (near !== null) return `There is no calendar ${name}. Did you mean ${near}?`
      const advice = {
        library: 'Create it first with `calendars.put`.',
        wire: 'Create it first with PUT /v1/calendars/{name}.',
        cli: 'Create it first with `calendar put NAME DATES`.',
        mcp: 'It has to be created first, with `wakeful calendar put NAME DATES` or PUT /v1/calendars/{name}.',
      }[words.interface]
      return `There is no calendar ${name}. ${known.length === 0 ? '' : `Known: ${known.join(', ')}. `}${advice}`
    },
  },
  'exclude.moves_twice': '{text} and <exclude.move> move to different days. Use one of them.',
  'exclude.day_off':
    "invalid_rule: {day} is a day off, {name}. Choose another day, or use <exclude.move=next> or 'previous'.",
  'exclude.no_working_day': 'invalid_rule: There is no working day near {day}. Exclude fewer days.',
  // Calendars.
  'calendar.name':
    "{name} is not the name of a calendar. Use lower-case letters, digits, '-' and '_', at most 63, and not 'weekend' or 'weekends'.",
  'calendar.malformed': (_: Record<never, never>, words) => {
    const dates = words.object({ dates: ['2026-12-25'] })
    const weekend = words.object({ weekend: ['sat', 'sun'] })
    return `A calendar has \`dates\`, \`ics\` or \`weekend\`, at least one of them: ${dates}, ${weekend}. Use an empty list of dates to make it empty.`
  },
  'calendar.date':
    "{value} is not a date from 1970 to 9999. Write it like '2026-12-25', or several days like '2026-12-24..2026-12-31'.",
  'calendar.range': '{value} ends before it begins. Put the earlier date first.',
  'calendar.label': "The label of {date} is not a string. Use '' for none.",
  'calendar.too_many_days': 'The calendar has {count} days. At most {max} are allowed.',
  'weekend.malformed': "{field} must be a list of weekdays such as ['sat', 'sun'].",
  'weekend.unknown_day': "{value} is not a weekday. Use 'fri', 'saturday', …, or 1 (Monday) to 7.",

  // The text of an .ics file. `line` is the number of the line, and `part` a name of RFC 5545.
  'ics.too_large': '{field} must be the text of an .ics file of at most 2 MB.',
  /** Added to the error of what is on the line. */
  'ics.at_line': 'This is in line {line} of the .ics file.',
  'ics.not_a_line':
    "Line {line} of the .ics file: {text} is not NAME:value, as in 'DTSTART;VALUE=DATE:20261225'.",
  'ics.no_begin': "Line {line} of the .ics file: an .ics file starts with 'BEGIN:VCALENDAR'.",
  'ics.nested_event':
    'Line {line} of the .ics file: an event begins within an event. Add the missing END:VEVENT.',
  'ics.end': 'Line {line} of the .ics file: END of {part} has no BEGIN, or another part is still open.',
  'ics.no_end': 'Line {line} of the .ics file: BEGIN of {part} has no END.',
  'ics.outside': 'Line {line} of the .ics file: {part} is outside of the calendar.',
  'ics.no_start': 'Line {line} of the .ics file: the event has no DTSTART.',
  'ics.exrule': 'Line {line} of the .ics file: EXRULE is obsolete. Name the dates with EXDATE.',
  'ics.this_and_future':
    'Line {line} of the .ics file: RANGE=THISANDFUTURE is not supported. End the series and begin another.',
  'ics.twice': 'Line {line} of the .ics file: {part} appears twice in one event. Use one.',
  'ics.date_with_time':
    'Line {line} of the .ics file: {part};VALUE=DATE has a time, {value}. Write 20261225.',
  'ics.end_with_time': 'Line {line} of the .ics file: DTEND has a time and DTSTART has none. Write a date.',
  'ics.end_before_start': 'Line {line} of the .ics file: DTEND is before DTSTART.',
  'ics.duration': 'Line {line} of the .ics file: DURATION {value} is not in days or weeks. Write P2D.',
  'ics.too_long': 'Line {line} of the .ics file: the event lasts {count} days. At most {max} are allowed.',
  'ics.too_many_rules': 'Line {line} of the .ics file: more than {max} events recur. Use fewer.',
  'ics.too_many_days':
    'Line {line} of the .ics file: with this event there are more than {max} days off. Use fewer.',
})

function excludeForms(where: string): string {
  return where === 'cli'
    ? 'Use names of calendars, weekdays, or weekends.'
    : "Use names of calendars and weekdays, 'weekends', or { calendars, weekend, move, offset }."
}
