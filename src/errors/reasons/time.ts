import { type Definitions, reason } from '../reason.ts'

const SINCE_FORMS =
  'Use an instant (2026-12-24T18:00:00Z), seconds since 1970, or a duration, which means that long ago (2h, 7d).'
const ZONE_FORMS = "Use an IANA name such as 'Europe/Rome' or 'UTC'."
const PHRASE_FORMS =
  "Forms that work: 'in 30 minutes', 'tomorrow at 5pm', 'next friday at 3pm', 'december 24 at 6pm', 'noon', '2026-12-24 18:00'."
const RECURRING_FORMS =
  "Forms that work: 'every weekday at 9am', 'every 15 minutes between 9:00 and 17:00', 'every other tuesday at 9am', 'first monday of each month at 10:00', 'every year on december 24 at 18:00'."

/** Refusals about times. `text` is what was written, quoted. */
export const TIME_REASONS = {
  // Zones, rules and times to list from.
  'timezone.offset': `invalid_timezone: {zone} is an offset, which ignores summer time. ${ZONE_FORMS}`,
  'timezone.unknown': reason<{ zone: string; near: string | null }>(
    'invalid_timezone',
    ({ zone, near }) =>
      `${zone} is not a known time zone. ${near === null ? ZONE_FORMS : `Did you mean '${near}'?`}`,
  ),
  'timezone.twice': 'invalid_rule: {other} names the zone {named} and {field} is {zone}. Use one of them.',
  'cron.field_count':
    "invalid_rule: {text} is not a cron expression. Use 5 fields (minute hour day month weekday), 6 with seconds in front, {nicknames} or '@every 5m'.",
  'cron.field': 'invalid_rule: {text} is not a cron expression: {detail}.',
  /** `detail` quotes RFC 5545 and is the same in every interface. */
  'rrule.invalid': 'invalid_rule: {detail}.',
  'rrule.date':
    'invalid_rule: {part} {text} is not a date. Write 20261224, 20261224T180000 or, in UTC, 20261224T170000Z.',
  'rrule.no_such_date': 'invalid_rule: {part} {text} does not exist on the calendar and clock.',
  'rrule.date_out_of_range': 'invalid_rule: {part} {text} is outside the years {min} to 9999.',
  'rule.never_fires': 'invalid_rule: {text} never fires: {detail}.',
  'rule.only_days_off':
    "invalid_rule: {text} fires only on days off. Exclude fewer days, or use <exclude.move=next> or 'previous'.",
  'rule.end_before_start': 'invalid_rule: <end> {end} is before <start> {start}.',
  'rule.jitter_too_long':
    'invalid_rule: <jitter> {jitter} is longer than the {gap} between two instants of {text}. Use less.',
  'rule.cannot_move':
    'invalid_rule: {text} fires more than once a day, and only a rule that fires at most once a day can move. Leave out <exclude.move> to skip days off.',
  'rule.fixed_length': reason<{ text: string }>(
    'invalid_request',
    ({ text }, words) =>
      `${text} has a fixed length, so clock changes do not affect it. Leave ${words.interface === 'cli' ? '--dst-gap and --dst-overlap' : words.name('dst')} out.`,
  ),
  'rule.kept_exclusion': reason(
    'invalid_rule',
    (_, words) =>
      `The days off are those of the old rule. ${words.interface === 'cli' ? '--exclude none' : `\`exclude: []\``} drops them.`,
  ),
  'when.recurring_only': 'invalid_request: {field} belongs to recurring rules. This {other} fires once.',
  'when.misfire_all_once':
    'invalid_request: <misfire=all> belongs to recurring rules. This {other} fires once.',
  'when.said_twice': 'invalid_request: {text} sets its {option}, and so does {field}. Use one of them.',
  'when.misfire_within': "invalid_request: <misfire.all.within> '0s' would fire none. Use <misfire=skip>.",
  'since.malformed': `invalid_time: <since> {text} is not a time. ${SINCE_FORMS}`,
  'since.recurs': `invalid_time: <since> {text} recurs, and names no moment. ${SINCE_FORMS}`,
  'since.future': `invalid_time: <since> {text} is {instant}, which is still to come. ${SINCE_FORMS}`,
  'clock.backwards':
    'invalid_time: Cannot advance by {by}: time only moves forwards. Use jump to set the wall clock.',
  'clock.past': 'invalid_time: Cannot advance to {to}: it is already {now}. Use jump to set the wall clock.',

  // Days off.
  'exclude.all_days': 'invalid_rule: All seven days of the week are off. Leave at least one.',
  'exclude.malformed': reason<{ value: string }>(
    'invalid_request',
    ({ value }, words) =>
      `${words.name('exclude')} ${value} is not understood. ${excludeForms(words.interface)}`,
  ),
  'exclude.invalid': reason<{ detail: string }>(
    'invalid_request',
    ({ detail }, words) => `${words.name('exclude')}: ${detail}. ${excludeForms(words.interface)}`,
  ),
  'exclude.unknown_calendar': reason<{ name: string; near: string | null; known: readonly string[] }>(
    'invalid_rule',
    ({ name, near, known }, words) => {
      if (near !== null) return `There is no calendar ${name}. Did you mean ${near}?`
      const make = `\`wakeful calendar put NAME DATES\``
      const advice =
        words.interface === 'cli'
          ? 'Create it first with `calendar put NAME DATES`.'
          : `Create it first with \`calendars.put\` in the library, or with ${make} where the store is.`
      return `There is no calendar ${name}. ${known.length === 0 ? '' : `Known: ${known.join(', ')}. `}${advice}`
    },
  ),
  'exclude.calendar_name': 'invalid_request: {name} is not the name of a calendar: {form}.',
  'exclude.moves_twice':
    'invalid_request: {text} and <exclude.move> move to different days. Use one of them.',
  'exclude.day_off':
    "invalid_rule: {day} is a day off, {name}. Choose another day, or use <exclude.move=next> or 'previous'.",
  'exclude.no_working_day': 'invalid_rule: There is no working day near {day}. Exclude fewer days.',
  /** `name` is added where the calendar is known; `detail` names the date or the line. */
  'calendar.invalid': reason<{ name: string; detail: string }>(
    'invalid_request',
    ({ name, detail }) => `Calendar${name === '' ? '' : ` ${name}`}: ${detail}.`,
  ),
  'ics.too_large': 'invalid_request: <ics> must be the text of an .ics file of at most 2 MB.',

  // Times in plain language. Phrases are English, so `detail` is the same in every interface.
  'phrase.empty': "invalid_time: The time is empty. Use, for example, 'tomorrow at 5pm'.",
  'phrase.too_long': 'invalid_time: A time is a text of at most {max} characters.',
  'phrase.not_understood': reason<{ text: string; words: readonly string[]; zone: boolean }>(
    'invalid_time',
    (params, words) => {
      const named = params.words.join(', ')
      const what = named === '' ? 'no time was found in it' : `not understood: ${named}`
      const zone = params.zone ? ` Set the zone with ${words.name('timezone')}, beside the text.` : ''
      return `${params.text} is not a time: ${what}.${zone} ${PHRASE_FORMS}`
    },
  ),
  'phrase.no_such_date':
    "invalid_time: {text} is not a time: there is no such day, time of day or offset. Write an instant like '2026-12-24T18:00:00Z'.",
  'phrase.recurs':
    "invalid_time: {text} recurs ('{word}'), and one instant is needed here. Use the phrase as the time itself, or <cron=0 9 * * 1-5>.",
  /** Two of what there can be only one: dates, times of day. */
  'phrase.twice': 'invalid_time: {text} has two {part}s. Use one.',
  'phrase.no_time_of_day': 'invalid_time: {text} has no time of day. Use {say}.',
  'phrase.wrong_weekday': 'invalid_time: {text}: {date} is not on that weekday.',
  'phrase.bound':
    "invalid_time: {text} is not a start or end. Write it like '2026-12-24', '2026-12-24T18:00', with or without an offset, or 'next monday'.",
  /** A phrase, or a part of it, that is understood and cannot be done; `detail` says what to say instead. */
  'phrase.unsupported': reason<{ text: string | null; detail: string }>('invalid_time', ({ text, detail }) =>
    text === null ? `${detail}.` : `${text}: ${detail}.`,
  ),
  'phrase.needs_rule': 'invalid_time: {text}: {detail}. Use {other} for that.',
  'phrase.recurring_not_understood': reason<{
    text: string
    words: readonly string[]
    zone: boolean
    joined: boolean
  }>('invalid_time', (params, words) => {
    const zone = params.zone ? ` Set the zone with ${words.name('timezone')}, beside the text.` : ''
    const joined = params.joined ? " 'and' joins days or times of day; set an alarm for each rule." : ''
    return `${params.text}: not understood: ${params.words.join(', ')}.${zone}${joined} ${RECURRING_FORMS}`
  }),
} as const satisfies Definitions

function excludeForms(where: string): string {
  return where === 'cli'
    ? 'Use names of calendars, weekdays, or weekends.'
    : "Use names of calendars and weekdays, 'weekends', or { calendars, weekend, move, offset }."
}
