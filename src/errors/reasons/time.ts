import { reason } from '../reason.ts'

const SINCE_FORMS =
  'Use an instant (2026-12-24T18:00:00Z), seconds since 1970, or a duration, which means that long ago (2h, 7d).'
const ZONE_FORMS = "Use an IANA name such as 'Europe/Rome' or 'UTC'."

/** Refusals about zones, rules and times to list from. `text` is what was written, quoted. */
export const TIME_REASONS = {
  'timezone.offset': reason<{ zone: string }>(
    'invalid_timezone',
    ({ zone }) => `${zone} is an offset, which ignores summer time. ${ZONE_FORMS}`,
  ),
  'timezone.unknown': reason<{ zone: string; near: string | null }>(
    'invalid_timezone',
    ({ zone, near }) =>
      `${zone} is not a known time zone. ${near === null ? ZONE_FORMS : `Did you mean '${near}'?`}`,
  ),
  'timezone.twice': reason<{ other: string; named: string; zone: string }>(
    'invalid_rule',
    ({ other, named, zone }, words) =>
      `${words.name(other)} names the zone ${named} and ${words.it} is ${zone}. Use one of them.`,
  ),
  'cron.field_count': reason<{ text: string; nicknames: readonly string[] }>(
    'invalid_rule',
    ({ text, nicknames }) =>
      `${text} is not a cron expression. Use 5 fields (minute hour day month weekday), 6 with seconds in front, ${nicknames.join(', ')} or '@every 5m'.`,
  ),
  'cron.field': reason<{ text: string; detail: string }>(
    'invalid_rule',
    ({ text, detail }) => `${text} is not a cron expression: ${detail}.`,
  ),
  /** `detail` quotes RFC 5545 and is the same in every interface. */
  'rrule.invalid': reason<{ detail: string }>('invalid_rule', ({ detail }) => `${detail}.`),
  'rrule.date': reason<{ part: string; text: string }>(
    'invalid_rule',
    ({ part, text }) =>
      `${part} ${text} is not a date. Write 20261224, 20261224T180000 or, in UTC, 20261224T170000Z.`,
  ),
  'rrule.no_such_date': reason<{ part: string; text: string }>(
    'invalid_rule',
    ({ part, text }) => `${part} ${text} does not exist on the calendar and clock.`,
  ),
  'rrule.date_out_of_range': reason<{ part: string; text: string; min: number }>(
    'invalid_rule',
    ({ part, text, min }) => `${part} ${text} is outside the years ${min} to 9999.`,
  ),
  'rule.never_fires': reason<{ text: string; detail: string }>(
    'invalid_rule',
    ({ text, detail }) => `${text} never fires: ${detail}.`,
  ),
  'rule.only_days_off': reason<{ text: string }>(
    'invalid_rule',
    ({ text }, words) =>
      `${text} fires only on days off. Exclude fewer days, or use ${words.option('exclude.move', 'next')} or 'previous'.`,
  ),
  'rule.end_before_start': reason<{ start: string; end: string }>(
    'invalid_rule',
    ({ start, end }, words) => `${words.name('end')} ${end} is before ${words.name('start')} ${start}.`,
  ),
  'rule.jitter_too_long': reason<{ jitter: string; gap: string; text: string }>(
    'invalid_rule',
    ({ jitter, gap, text }, words) =>
      `${words.name('jitter')} ${jitter} is longer than the ${gap} between two instants of ${text}. Use less.`,
  ),
  'rule.cannot_move': reason<{ text: string }>(
    'invalid_rule',
    ({ text }, words) =>
      `${text} fires more than once a day, and only a rule that fires at most once a day can move. Leave out ${words.name('exclude.move')} to skip days off.`,
  ),
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
  'when.kinds': reason<{ fields: readonly string[]; others: readonly string[] }>(
    'invalid_request',
    ({ fields, others }, words) =>
      `A time has exactly one of ${words.names(fields)}. This has ${others.length === 0 ? 'none' : others.map(words.name).join(' and ')}.`,
  ),
  'when.recurring_only': reason<{ other: string }>(
    'invalid_request',
    ({ other }, words) => `${words.it} belongs to recurring rules. This ${words.name(other)} fires once.`,
  ),
  'when.misfire_all_once': reason<{ other: string }>(
    'invalid_request',
    ({ other }, words) =>
      `${words.option('misfire', 'all')} belongs to recurring rules. This ${words.name(other)} fires once.`,
  ),
  'when.said_twice': reason<{ text: string; option: string }>(
    'invalid_request',
    ({ text, option }, words) => `${text} sets its ${option}, and so does ${words.it}. Use one of them.`,
  ),
  'when.misfire_within': reason(
    'invalid_request',
    (_, words) =>
      `${words.name('misfire.within')} '0s' would fire none. Use ${words.option('misfire', 'skip')}.`,
  ),
  'since.malformed': reason<{ text: string }>(
    'invalid_time',
    ({ text }, words) => `${words.name('since')} ${text} is not a time. ${SINCE_FORMS}`,
  ),
  'since.recurs': reason<{ text: string }>(
    'invalid_time',
    ({ text }, words) => `${words.name('since')} ${text} recurs, and names no moment. ${SINCE_FORMS}`,
  ),
  'since.future': reason<{ text: string; instant: string }>(
    'invalid_time',
    ({ text, instant }, words) =>
      `${words.name('since')} ${text} is ${instant}, which is still to come. ${SINCE_FORMS}`,
  ),
  'clock.backwards': reason<{ by: string }>(
    'invalid_time',
    ({ by }) => `Cannot advance by ${by}: time only moves forwards. Use jump to set the wall clock.`,
  ),
  'clock.past': reason<{ to: string; now: string }>(
    'invalid_time',
    ({ to, now }) => `Cannot advance to ${to}: it is already ${now}. Use jump to set the wall clock.`,
  ),
}

/** Refusals about days off. */
export const CALENDAR_REASONS = {
  'exclude.all_days': reason('invalid_rule', () => 'All seven days of the week are off. Leave at least one.'),
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
  'exclude.calendar_name': reason<{ name: string; form: string }>(
    'invalid_request',
    ({ name, form }) => `${name} is not the name of a calendar: ${form}.`,
  ),
  'exclude.moves_twice': reason<{ text: string }>(
    'invalid_request',
    ({ text }, words) => `${text} and ${words.name('exclude.move')} move to different days. Use one of them.`,
  ),
  'exclude.day_off': reason<{ day: string; name: string }>(
    'invalid_rule',
    ({ day, name }, words) =>
      `${day} is a day off, ${name}. Choose another day, or use ${words.option('exclude.move', 'next')} or 'previous'.`,
  ),
  'exclude.no_working_day': reason<{ day: string }>(
    'invalid_rule',
    ({ day }) => `There is no working day near ${day}. Exclude fewer days.`,
  ),
  /** `name` is added where the calendar is known; `detail` names the date or the line. */
  'calendar.invalid': reason<{ name: string; detail: string }>(
    'invalid_request',
    ({ name, detail }) => `Calendar${name === '' ? '' : ` ${name}`}: ${detail}.`,
  ),
  'ics.too_large': reason(
    'invalid_request',
    (_, words) => `${words.name('ics')} must be the text of an .ics file of at most 2 MB.`,
  ),
}

function excludeForms(where: string): string {
  return where === 'cli'
    ? 'Use names of calendars, weekdays, or weekends.'
    : "Use names of calendars and weekdays, 'weekends', or { calendars, weekend, move, offset }."
}

const PHRASE_FORMS =
  "Forms that work: 'in 30 minutes', 'tomorrow at 5pm', 'next friday at 3pm', 'december 24 at 6pm', 'noon', '2026-12-24 18:00'."

const RECURRING_FORMS =
  "Forms that work: 'every weekday at 9am', 'every 15 minutes between 9:00 and 17:00', 'every other tuesday at 9am', 'first monday of each month at 10:00', 'every year on december 24 at 18:00'."

/** Refusals about times in plain language. Phrases are English, so `detail` is the same in every interface. */
export const PHRASE_REASONS = {
  'phrase.empty': reason('invalid_time', () => "The time is empty. Use, for example, 'tomorrow at 5pm'."),
  'phrase.too_long': reason<{ max: number }>(
    'invalid_time',
    ({ max }) => `A time is a text of at most ${max} characters.`,
  ),
  'phrase.not_understood': reason<{ text: string; words: readonly string[]; zone: boolean }>(
    'invalid_time',
    (params, words) => {
      const named = params.words.join(', ')
      const what = named === '' ? 'no time was found in it' : `not understood: ${named}`
      const zone = params.zone ? ` Set the zone with ${words.name('timezone')}, beside the text.` : ''
      return `${params.text} is not a time: ${what}.${zone} ${PHRASE_FORMS}`
    },
  ),
  'phrase.no_such_date': reason<{ text: string }>(
    'invalid_time',
    ({ text }) =>
      `${text} is not a time: there is no such day, time of day or offset. Write an instant like '2026-12-24T18:00:00Z'.`,
  ),
  'phrase.recurs': reason<{ text: string; word: string }>(
    'invalid_time',
    ({ text, word }, words) =>
      `${text} recurs ('${word}'), and one instant is needed here. Use the phrase as the time itself, or ${words.option('cron', '0 9 * * 1-5')}.`,
  ),
  /** Two of what there can be only one: dates, times of day. */
  'phrase.twice': reason<{ text: string; part: string }>(
    'invalid_time',
    ({ text, part }) => `${text} has two ${part}s. Use one.`,
  ),
  'phrase.no_time_of_day': reason<{ text: string; say: string }>(
    'invalid_time',
    ({ text, say }) => `${text} has no time of day. Use ${say}.`,
  ),
  'phrase.wrong_weekday': reason<{ text: string; date: string }>(
    'invalid_time',
    ({ text, date }) => `${text}: ${date} is not on that weekday.`,
  ),
  'phrase.bound': reason<{ text: string }>(
    'invalid_time',
    ({ text }) =>
      `${text} is not a start or end. Write it like '2026-12-24', '2026-12-24T18:00', with or without an offset, or 'next monday'.`,
  ),
  /** A phrase, or a part of it, that is understood and cannot be done; `detail` says what to say instead. */
  'phrase.unsupported': reason<{ text: string | null; detail: string }>('invalid_time', ({ text, detail }) =>
    text === null ? `${detail}.` : `${text}: ${detail}.`,
  ),
  'phrase.needs_rule': reason<{ text: string; detail: string; other: string }>(
    'invalid_time',
    ({ text, detail, other }, words) => `${text}: ${detail}. Use ${words.name(other)} for that.`,
  ),
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
}
