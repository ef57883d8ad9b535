import { describe, expect, it } from 'vitest'
import { parseRecurring } from './recurring-phrase.ts'

/** Wednesday, 10:30:15 in Rome. */
const now = Date.parse('2026-03-04T09:30:15.123Z')

function read(text: string, at = now): unknown {
  return parseRecurring(text, { now: at, timezone: 'Europe/Rome' })
}

describe('recurring phrases that are refused', () => {
  it.each([
    ['weekly on monday at 9', /'9am' \(09:00\) or '9pm' \(21:00\)/],
    ['every day at 5', /'5am' \(05:00\) or '5pm' \(17:00\)/],
    ['every hour between 9 and 5', /'between 9am and 5pm' or 'between 9pm and 5am'/],
    ['every hour between 8 and 11', /'between 8am and 11am' or 'between 8pm and 11pm'/],
    ['every hour between 9 and 5pm', /ambiguous/],
    ['twice a day', /every day at 9am and 9pm/],
    ['3 times a week', /does not name a time/],
    ['twice daily', /'twice daily' does not name a time/],
    ['2 times daily', /'2 times daily' does not name a time/],
    ['3 times every day', /does not name a time/],
    ['daily 3 times', /on each day or in total/],
    ['weekdays from 9am', /time of each occurrence, or the start/],
    ['except on weekdays', /needs days to exclude from/],
    ['tuesday at 5pm daily', /both every day and Tuesday/],
    ['every third at 5pm', /'every', 'third'/],
    ['every wensday at 9am', /'wensday'. Did you mean 'wednesday'\?/],
    ['every morning at 5pm', /not a time of the morning/],
    ['every day at 5pm EST', /'est'\. Set the zone with `timezone`/],
    ['every day at 5pm Europe/Rome', /'europe\/rome'\. Set the zone with `timezone`/],
    ['every day at 5pm UTC+2', /Set the zone with `timezone`/],
    ['every third working day at 9am', /'working day' is ambiguous/],
    ['every second working day at 9am', /'working day' is ambiguous/],
    ['every other working day at 9am', /ambiguous/],
    ['first and third working day of the month at 9am', /Only one working day/],
    ['second last working day of the month at 9am', /Only one working day/],
    ['20th working day of the month at 9am', /not every month has 20 working days/],
    ['first working day of the month at 9am and 5pm', /one time of day/],
    ['first working day and 1st of the month at 9am', /set an alarm for each/],
    ['every working day please at 9am', /not understood: 'please'/],
    ['every day at 9am except', /does not name an exception/],
    ['every day at 9am except at', /does not name an exception/],
    ['every day at 9am except working days', /cannot be an exception/],
    ['every day at 9am except a-b except c', /two exceptions/],
    ['every day at 9am of the quarter', /'quarter' can only be used with working days/],
    ['call mom every monday at 9am', /not understood: 'call', 'mom'/],
    ['every', /not understood: 'every'/],
    ['every blue moon', /'every', 'blue', 'moon'/],
    ['every day at 9am next week', /'next', 'week'/],
    ['every third tuesday', /'every 3 weeks on Tuesday' or 'third Tuesday of every month'/],
    ['every second tuesday', /'every 2 weeks on Tuesday' or 'second Tuesday of every month'/],
    ['every first monday', /'every Monday' or 'first Monday of every month'/],
    ['every other weekday at 9am', /ambiguous/],
    ['biweekly', /'every 2 weeks on monday' or 'every monday and thursday'/],
    ['quarterly', /Use 'every year on the 1st of january, april, july and october'/],
    ['every quarter at 9am', /'every quarter' is ambiguous. Use 'every year on the 1st of january,/],
    ['weekday at 9am', /Use 'every weekday' or 'next monday'/],
    ['every friday the 13th', /both weekdays and days of the month/],
    ['every month on monday at 9am', /first monday of every month/],
    ['every year on the 15th', /month is missing/],
    ['every june at 9am', /day is missing/],
    ['every week on the 1st', /do not occur each week/],
    ['every 3 days on friday', /every 2 weeks on friday/],
    ['every day on the 1st', /'every N days' cannot be combined/],
    ['every feb 30 at noon', /no February 30/],
    ['every year on the 31st of june and november', /no day 31/],
    ['on the 32nd of every month', /no day 32/],
    ['sixth monday of every month', /'sixth'/],
    ['6th monday of every month', /No month has 6/],
    ['every year on 03/04', /'April 3' or 'March 4'/],
    ['every year on 2026-12-24', /has a year, so it occurs once/],
    ['every day at 25:00', /not a time of day/],
    ['every day at 9:00 and 17:30', /Set an alarm for each/],
    ['every monday at 9am and thursday at 10am', /two sets of weekdays/],
    ['every day every week', /two recurrences/],
    ['every 2 hours at 9am', /'starting at 9am' or 'every day at 9am'/],
    ['every 45 minutes between 9 and 17', /45m does not/],
    ['every 7 minutes on weekdays', /7m does not/],
    ['every 15 minutes between 9:30 and 17:00', /full hours/],
    ['every 15 minutes between 9:00 and 9:00', /empty/],
    ['every 15 minutes between 22 and 6 on weekdays', /over midnight/],
    ['every 15 minutes on the 1st of the month', /two recurrences/],
    ['every day between 9 and 17', /every 15 minutes between/],
    ['every 0 days', /not every 0/],
    ['every 0 minutes', /once a second/],
    ['every 250ms', /once a second/],
    ['every 2 days and 3 hours', /mixes days and hours/],
    ['every day at 9am for 3 weeks', /'10 times'/],
    ['every day at 9am 0 times', /is never/],
    ['every day until friday at 5pm', /time of each occurrence, or of the end/],
    ['every 15 minutes until 5pm', /end of each day, or the end of the rule/],
    ['every day except monday to sunday', /leaves no day/],
  ])('%s', (text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: 'invalid_time', message: expect.stringMatching(message) }),
    )
  })

  it('names the phrase when its first instant is after the year 9999', () => {
    expect(() => read('every 4 years on february 29 at noon', Date.parse('9999-06-30T10:00Z'))).toThrow(
      "'every 4 years on february 29 at noon' is outside the years 1970 to 9999",
    )
  })
})

it('returns null for a phrase that does not recur', () => {
  for (const text of [
    'tomorrow at 5pm',
    'in 30 minutes',
    'next friday at 3pm',
    '2026-12-24 18:00',
    '10m',
    '',
    'monday',
    'next working day at 9am',
    'in 3 working days',
    'three business days from now',
  ]) {
    expect(read(text)).toBeNull()
  }
  expect(read('every '.repeat(400))).toBeNull()
})
