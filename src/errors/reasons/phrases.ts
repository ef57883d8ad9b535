import { reasons } from '../reason.ts'

const PHRASE_FORMS =
  "Forms that work: 'in 30 minutes', 'tomorrow at 5pm', 'next friday at 3pm', 'december 24 at 6pm', 'noon', '2026-12-24 18:00'."
const RECURRING_FORMS =
  "Forms that work: 'every weekday at 9am', 'every 15 minutes between 9:00 and 17:00', 'every other tuesday at 9am', 'first monday of each month at 10:00', 'every year on december 24 at 18:00'."

/** A question about words that are probably misspelt. */
function didYouMean(corrections: readonly string[]): string {
  return corrections.length === 0 ? '' : ` Did you mean ${corrections.map((word) => `'${word}'`).join(', ')}?`
}

/**
 * Refusals of times in plain language. `text` is the whole phrase, quoted; `word` is the part that is wrong. Phrases are
 * English, so what to write instead is the same in every interface.
 */
export const PHRASE_REASONS = reasons('invalid_time', {
  // Any phrase.
  'phrase.empty': "The time is empty. Use, for example, 'tomorrow at 5pm'.",
  'phrase.too_long': 'A time is a text of at most {max} characters.',
  'phrase.not_understood': (
    params: { text: string; words: readonly string[]; corrections: readonly string[]; zone: boolean },
    words,
  ) => {
    const named = params.words.join(', ')
    const what = named === '' ? 'no time was found in it' : `not understood: ${named}`
    const zone = params.zone ? ` Set the zone with ${words.name('timezone')}, beside the text.` : ''
    return `${params.text} is not a time: ${what}.${didYouMean(params.corrections)}${zone} ${PHRASE_FORMS}`
  },
  'phrase.ambiguous': ({ word, forms }: { word: string; forms: readonly string[] }) =>
    `'${word}' is ambiguous. Use ${forms.map((form) => `'${form}'`).join(' or ')}.`,
  /** Two of what there can be only one: dates, times of day. */
  'phrase.twice': '{text} has two {part}s. Use one.',
  'phrase.unit_twice': 'The unit {unit} appears twice. Use each unit once.',
  'phrase.fraction': '{count} {unit} is not a whole number. Use smaller units.',

  // Times of day.
  'phrase.no_such_time': "'{word}' is not a time of day. Use '5pm', '5:30pm' or '17:30'.",
  'phrase.ambiguous_hour': "'at {word}' is ambiguous. Use '{hour}am' ({am}) or '{hour}pm' ({pm}).",
  'phrase.default_time_passed':
    "{text} is read as {time}, which has passed. Name the time, as in 'today at 5pm', or a later day.",
  'phrase.time_and_hours': '{text} has both a time of day and hours from now. Use one of them.',
  'phrase.not_tonight': "'tonight' has no {time}. Use 'today' or 'tomorrow', or a time of the night.",

  // Days.
  'phrase.no_such_date':
    "{text} is not a time: there is no such day, time of day or offset. Write an instant like '2026-12-24T18:00:00Z'.",
  'phrase.no_such_day': 'There is no {day}. Use a day that exists.',
  'phrase.short_year': "'{word}' needs a year of four digits.",
  'phrase.wrong_weekday': '{text}: {date} is not on that weekday.',
  'phrase.working_days_range': '{text} counts {count} working days. Use a number from 1 to {max}.',
  'phrase.no_working_day': '{text}: no such working day comes within ten years. Exclude fewer days.',

  // A phrase where another kind is needed.
  'phrase.recurs':
    "{text} recurs ('{word}'), and one instant is needed here. Use the phrase as the time itself, or <cron=0 9 * * 1-5>.",
  'phrase.bound':
    "{text} is not a start or end. Write it like '2026-12-24', '2026-12-24T18:00', with or without an offset, or 'next monday'.",

  // Recurring phrases.
  'phrase.recurring_not_understood': (
    params: {
      text: string
      words: readonly string[]
      corrections: readonly string[]
      zone: boolean
      joined: boolean
    },
    words,
  ) => {
    const zone = params.zone ? ` Set the zone with ${words.name('timezone')}, beside the text.` : ''
    const joined = params.joined ? " 'and' joins days or times of day; set an alarm for each rule." : ''
    return `${params.text}: not understood: ${params.words.join(', ')}.${didYouMean(params.corrections)}${zone}${joined} ${RECURRING_FORMS}`
  },
  'phrase.part_twice': '{text} has two {part}. Use one, or set an alarm for each.',
  'phrase.times_missing':
    "{word} does not name a time. Use 'every day at 9am and 9pm', 'every monday and thursday at 9am' or 'every 12 hours'.",

  // How often.
  'phrase.too_often': '{text}: a rule fires at most once a second, in whole milliseconds. Use a longer step.',
  'phrase.mixed_units': ({ text, units }: { text: string; units: readonly string[] }) =>
    `${text} mixes ${units.join(' and ')}. Use one unit, or hours.`,
  'phrase.step_out_of_range': '{text}: a rule can repeat every 1 to {max} {unit}, not every {count}.',
  'phrase.uneven_step':
    "{text}: within days or hours of the clock, the step must divide the {unit} evenly, and {step} does not. Use 'every 15 minutes', 'every 30 minutes' or 'every 2 hours'.",
  'phrase.minute_without_hours':
    "{text}: a minute of the hour needs a step in hours. Use 'every hour at :15'.",
  'phrase.hours_with_time':
    "{text}: a rule that repeats every few hours or less has no time of day. Use 'starting at {word}' or 'every day at {word}'.",
  'phrase.hours_in_months':
    '{text}: a rule that repeats every few hours or less can be limited to weekdays, not to days of the month. Use <cron> for that.',
  'phrase.steps_in_months':
    '{text}: every {count} {unit}s cannot be limited to months. Use <rrule> for that.',

  // Spans and parts of the day.
  'phrase.span_without_step':
    "{text}: a span of the day needs a recurrence within it. Use 'every 15 minutes between 9:00 and 17:00'.",
  'phrase.span_not_full_hour':
    "{text}: a span runs between full hours, and '{word}' is not one. Use 'between 9:00 and 17:00'.",
  'phrase.span_empty': '{text}: the span is empty, because it ends at the hour it starts. Use a later end.',
  'phrase.span_over_midnight':
    '{text}: a span over midnight belongs to two days. Leave out the days, or set an alarm for each side.',
  'phrase.day_part_in_hours': "{text}: the {part} has no fixed hours. Use 'between 8:00 and 12:00'.",
  'phrase.not_in_day_part':
    "{text}: '{word}' is not a time of the {part}. Use '9am', '3pm' or '21:00' without it.",

  // Start, end and number.
  'phrase.zero_times': "{text}: '{count} times' is never. Use a number of at least 1.",
  'phrase.no_start':
    "{text}: '{word}' needs a start. Use a number of times ('10 times') or the last day ('until 2027-01-31').",
  'phrase.times_per_day':
    "{text}: '{count} times' may mean on each day or in total. Use 'every day at 9am, {count} times', or list the times of day.",
  'phrase.start_or_time':
    "{text}: '{word}' may be the time of each occurrence, or the start. Use 'every day at 9am', or name the day it starts.",
  'phrase.end_or_time':
    "{text}: '{word}' may be the time of each occurrence, or of the end. Use 'every day at 9am until friday'.",
  'phrase.end_of_day':
    "{text}: '{word}' can mean the end of each day, or the end of the rule. Use 'between 9am and 5pm', or name the day it ends.",

  // Days of a recurring phrase that do not fit together.
  'phrase.never_comes': '{text} never fires: there is no such day. Use days that exist.',
  'phrase.different_minutes': '{text}: its times of day have different minutes. Set an alarm for each.',
  'phrase.one_time_of_day': '{text}: the {day} of a month has one time of day. Set an alarm for each.',
  'phrase.combined_days':
    '{text}: the {day} of a month cannot be combined with other days. Set an alarm for each.',
  'phrase.weekdays_and_month_days':
    '{text} has both weekdays and days of the month. Use one, or set an alarm for each.',
  'phrase.every_day_and_weekday': '{text} has both every day and {day}. Use one of them.',
  'phrase.days_without_choice':
    "{text}: 'every N days' cannot be combined with weekdays or days of the month. Use 'every 2 weeks on friday', or the days alone.",
  'phrase.month_days_in_weeks':
    "{text}: days of the month do not occur each week. Use 'on the 1st of every month'.",
  'phrase.which_weekday':
    "{text} does not say which {day} of the {unit}. Use 'first monday of every month' or 'every monday'.",
  'phrase.months_in_months':
    "{text} has both months and every month. Use 'every year on the 1st of june and july'.",
  'phrase.year_incomplete': "{text}: the {part} is missing. Use 'every year on december 24 at 18:00'.",
  'phrase.has_year': "'{word}' has a year, so it occurs once. Use 'december 24'.",
  'phrase.no_such_weekday': "No month has {nth} {day}s. Use 'first' to 'fifth', or 'last'.",
  'phrase.no_such_month_day': "There is no day {day} of a month. Use 1 to 31, or 'the last day'.",
  'phrase.not_in_month': '{text}: there is no day {day} in that month. Use a day that exists.',
  'phrase.edge_weekday':
    "Only the 'first weekday' or the 'last weekday' of a month can be named. Use one of them, or a weekday such as 'second monday'.",

  // Working days, and exceptions.
  'phrase.several_working_days': 'Only one working day of a month can be named. Set an alarm for each.',
  'phrase.too_few_working_days':
    "{text}: not every month has {nth} working days. Use 'first' to '{max}th', or 'last'.",
  'phrase.quarter_without_working_day':
    "{text}: 'quarter' can only be used with working days. Use 'every year on the 1st of january, april, july and october'.",
  'phrase.mixed_working_days':
    '{text} combines working days with other days, and the weekend is not Saturday and Sunday. Name all the days.',
  'phrase.except_working_days': "{text}: working days cannot be an exception. Use 'every weekend'.",
  'phrase.except_nothing':
    "{text} does not name an exception. Use 'except sunday', or the name of a calendar.",
  'phrase.except_without_days':
    "{text}: an exception needs days to exclude from. Use 'every day except sunday at 9am'.",
  'phrase.except_all': '{text}: the exception leaves no day. Exclude fewer days.',
})
