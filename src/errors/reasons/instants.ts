import { reason } from '../reason.ts'

const DURATION_FORMS =
  "Write a duration like '250ms', '10s', '5m', '2h', '3d', '1w', '1h30m', '1.5h' or 'PT10M'."

/** Refusals about instants and durations. `text` is what was written, quoted. */
export const INSTANT_REASONS = {
  'instant.malformed': reason<{ text: string }>(
    'invalid_time',
    ({ text }) =>
      `${text} is not an instant. Write it like '2026-12-24T18:00:00Z' or '2026-12-24T18:00:00+01:00'.`,
  ),
  'instant.words': reason<{ text: string; example: string }>(
    'invalid_time',
    ({ text, example }, words) =>
      `${words.it} ${text} must be an instant such as ${example}. Plain language goes into \`when\`.`,
  ),
  'instant.no_offset': reason<{ text: string }>(
    'invalid_time',
    ({ text }, words) =>
      `${text} is not an instant: it has no offset. Add 'Z' or one like '+01:00', or set ${words.name('timezone')}.`,
  ),
  'instant.out_of_range': reason<{ text: string }>(
    'invalid_time',
    ({ text }) => `${text} is outside the years 1970 to 9999.`,
  ),
  'instant.bare_number': reason<{ value: string }>('invalid_time', ({ value }, words) =>
    words.interface === 'library'
      ? `The bare number ${value} could be seconds or milliseconds. Use { unix: seconds } or a Date.`
      : `The bare number ${value} could be seconds or milliseconds. Use an instant such as "2030-01-01T09:00:00Z".`,
  ),
  'instant.type': reason(
    'invalid_time',
    () => 'An instant must be a Date, a Temporal.Instant or an ISO string with offset.',
  ),
  'instant.invalid_date': reason('invalid_time', () => 'The Date is invalid. Use one with a valid time.'),
  'instant.unix_in_milliseconds': reason<{ value: string }>(
    'invalid_time',
    ({ value }, words) =>
      `${words.name('unix')} ${value} is after the year 9999. It is in seconds; this looks like milliseconds.`,
  ),
  'duration.malformed': reason<{ text: string }>(
    'invalid_time',
    ({ text }) => `${text} is not a duration. ${DURATION_FORMS}`,
  ),
  'duration.signed': reason<{ text: string }>(
    'invalid_time',
    ({ text }) => `${text} is not a duration: it must not have a sign. ${DURATION_FORMS}`,
  ),
  'duration.no_unit': reason<{ text: string }>(
    'invalid_time',
    ({ text }) => `${text} has no unit. ${DURATION_FORMS}`,
  ),
  'duration.calendar_unit': reason<{ text: string }>(
    'invalid_time',
    ({ text }) => `${text} is not a duration: months and years have no fixed length. Count in days or weeks.`,
  ),
  'duration.text_too_long': reason('invalid_time', () => 'This text is too long for a duration.'),
  'duration.too_long': reason<{ text: string }>(
    'invalid_time',
    ({ text }) => `${text} is longer than 10,000 years.`,
  ),
  'duration.not_milliseconds': reason<{ value: string }>(
    'invalid_time',
    ({ value }) => `${value} is not a duration in whole milliseconds.`,
  ),
  'every.no_number': reason<{ text: string; one: string }>(
    'invalid_rule',
    ({ text, one }) => `${text} has no number. Use '${one}'.`,
  ),
  'every.out_of_range': reason<{ text: string }>(
    'invalid_rule',
    ({ text }) => `${text} is not a step from one month to 8,000 years.`,
  ),
  'every.under_a_second': reason<{ text: string }>(
    'invalid_rule',
    ({ text }) => `${text} is under a second. A rule fires at most once a second.`,
  ),
}
