import { describe, expect, it } from 'vitest'
import { parse } from '../when/index.ts'
import { formatLocal } from '../zones/index.ts'
import { parseTime } from './moment.ts'
import { assertPhraseSettings, type PhraseSettings } from './phrase-settings.ts'

/** Wednesday, 10:30:15 in Rome. */
const now = Date.parse('2026-03-04T09:30:15.123Z')

function read(text: string, timezone = 'Europe/Rome', at = now): string {
  const parsed = parse(text, { now: at, timezone })
  if (!('instant' in parsed)) throw new Error('a rule')
  return formatLocal(parsed.instant, timezone).slice(0, 16)
}

function notes(text: string, at = now): string {
  return parse(text, { now: at, timezone: 'Europe/Rome' }).notes.join('; ')
}

describe('plain language', () => {
  it.each([
    ['tomorrow at 5pm', '2026-03-05T17:00'],
    ['Tomorrow at 5 PM.', '2026-03-05T17:00'],
    ['tomorrow at 5 p.m.', '2026-03-05T17:00'],
    ['3pm tomorrow', '2026-03-05T15:00'],
    ['in 30 minutes', '2026-03-04T11:00'],
    ['in 1000005399 seconds', '2057-11-10T13:46'],
    ['in 2 hours', '2026-03-04T12:30'],
    ['in 1h30m', '2026-03-04T12:00'],
    ['in 1 hour and 30 minutes', '2026-03-04T12:00'],
    ['in an hour', '2026-03-04T11:30'],
    ['in half an hour', '2026-03-04T11:00'],
    ['in 1.5 hours', '2026-03-04T12:00'],
    ['in 3 days', '2026-03-07T10:30'],
    ['in 2 weeks at 9am', '2026-03-18T09:00'],
    ['two weeks from now at noon', '2026-03-18T12:00'],
    ['in 1 month', '2026-04-04T10:30'],
    ['next friday at 3pm', '2026-03-06T15:00'],
    ['friday at 15:00', '2026-03-06T15:00'],
    ['at 3pm on friday', '2026-03-06T15:00'],
    ['friday next week at 9am', '2026-03-13T09:00'],
    ['next monday 9am', '2026-03-09T09:00'],
    ['next wednesday at 11am', '2026-03-11T11:00'],
    ['wednesday at 11am', '2026-03-04T11:00'],
    ['wednesday at 9am', '2026-03-11T09:00'],
    ['noon', '2026-03-04T12:00'],
    ['midnight', '2026-03-05T00:00'],
    ['today at midnight', '2026-03-05T00:00'],
    ['tonight at midnight', '2026-03-05T00:00'],
    ['tomorrow at noon', '2026-03-05T12:00'],
    ['today at 17:30', '2026-03-04T17:30'],
    ['tonight at 8', '2026-03-04T20:00'],
    ['tonight at 2am', '2026-03-05T02:00'],
    ['9am', '2026-03-05T09:00'],
    ['11am', '2026-03-04T11:00'],
    ['12am', '2026-03-05T00:00'],
    ['12pm', '2026-03-04T12:00'],
    ['december 24 at 6pm', '2026-12-24T18:00'],
    ['24th of December 2027, 18:00', '2027-12-24T18:00'],
    ['friday 13 march at 3pm', '2026-03-13T15:00'],
    ['february 29 at noon', '2028-02-29T12:00'],
    ['the 31st at noon', '2026-03-31T12:00'],
    ['the day after tomorrow at noon', '2026-03-06T12:00'],
    ['13/04/2026 at 5pm', '2026-04-13T17:00'],
    ['2026-12-24 6pm', '2026-12-24T18:00'],
    ['2026-12-24 18:00', '2026-12-24T18:00'],
    ['2026-12-24T18:00', '2026-12-24T18:00'],
    ['10m', '2026-03-04T10:40'],
    ['now', '2026-03-04T10:30'],
    ['right now', '2026-03-04T10:30'],
    ['in a fortnight', '2026-03-18T10:30'],
    ['in one fortnight at 9am', '2026-03-18T09:00'],
    ['a fortnight from today at noon', '2026-03-18T12:00'],
    ['end of february 2028', '2028-02-29T17:00'],
    ['the end of february 2027 at noon', '2027-02-28T12:00'],
    ['tomorrow morning', '2026-03-05T09:00'],
    ['friday afternoon', '2026-03-06T15:00'],
    ['next friday in the evening', '2026-03-06T19:00'],
    ['tomorrow night', '2026-03-05T22:00'],
    ['this afternoon', '2026-03-04T15:00'],
    ['in the morning', '2026-03-05T09:00'],
    ['wednesday morning', '2026-03-11T09:00'],
    ['tonight', '2026-03-04T20:00'],
    ['in 2 days in the evening', '2026-03-06T19:00'],
    ['next working day in the morning', '2026-03-05T09:00'],
    ['6 in the morning', '2026-03-05T06:00'],
    ['tomorrow evening at 8', '2026-03-05T20:00'],
    ['this evening at 8', '2026-03-04T20:00'],
    ['at 3 in the afternoon', '2026-03-04T15:00'],
    ['2 at night', '2026-03-05T02:00'],
    ['end of day', '2026-03-04T17:00'],
    ['tomorrow, end of the day', '2026-03-05T17:00'],
    ['friday eod', '2026-03-06T17:00'],
    ['end of the month', '2026-03-31T17:00'],
    ['at the end of the month', '2026-03-31T17:00'],
    ['end of next month at noon', '2026-04-30T12:00'],
    ['end of february', '2027-02-28T17:00'],
    ['end of the year', '2026-12-31T17:00'],
    ['a week from today', '2026-03-11T09:00'],
    ['a week from today at 5pm', '2026-03-11T17:00'],
    ['two weeks from friday at noon', '2026-03-20T12:00'],
    ['1 month from tomorrow', '2026-04-05T09:00'],
    ['in a couple of hours', '2026-03-04T12:30'],
    ['a couple of days from now', '2026-03-06T10:30'],
    ['1 hour hence', '2026-03-04T11:30'],
    ['half past 5pm', '2026-03-04T17:30'],
    ['tomorrow at half past 5 pm', '2026-03-05T17:30'],
    ['quarter to 12pm', '2026-03-04T11:45'],
    ['a quarter to midnight', '2026-03-04T23:45'],
    ['ten past noon', '2026-03-04T12:10'],
    ['tomorrow at 20 minutes past 5pm', '2026-03-05T17:20'],
    ['half past 5 in the evening', '2026-03-04T17:30'],
    ['2026/12/24 18:00', '2026-12-24T18:00'],
    ['2026/3/9', '2026-03-09T09:00'],
  ])('parses %s', (text, wall) => {
    expect(read(text)).toBe(wall)
  })

  it('uses the day of the zone, not of the host', () => {
    const lateInUtc = Date.parse('2026-03-04T20:00:00Z')
    expect(read('tomorrow at 9am', 'Asia/Tokyo', lateInUtc)).toBe('2026-03-06T09:00')
    expect(read('tomorrow at 9am', 'America/New_York', lateInUtc)).toBe('2026-03-05T09:00')
  })

  it('keeps the wall-clock time over days and the elapsed time over hours when the clock changes', () => {
    const before = Date.parse('2026-03-28T11:00:00Z')
    expect(read('in 1 day', 'Europe/Rome', before)).toBe('2026-03-29T12:00')
    expect(read('in 24 hours', 'Europe/Rome', before)).toBe('2026-03-29T13:00')
    expect(read('1d', 'Europe/Rome', before)).toBe('2026-03-29T13:00')
  })
})

describe('what a phrase leaves open', () => {
  it.each([
    ['tomorrow', /09:00 is used/],
    ['friday', /09:00 is used/],
    ['next friday at 3pm', /2026-03-13/],
    ['tomorrow at midnight', /start of that day/],
    ['5:30', /24-hour clock: 05:30/],
    ['march 3 at noon', /2027 is used/],
    ['2026-03-29 02:30', /does not exist.*03:30/],
    ['march 29 at 2:30am', /does not exist.*03:30/],
    ['2026-10-25 02:30', /occurs twice/],
    ['today at 9am', /in the past/],
    ['2020-01-01T00:00Z', /in the past/],
    ['tonight', /^'tonight' is read as 20:00 \(morning 09:00, .*, end of day 17:00\)$/],
    ['tomorrow morning', /^'morning' is read as 09:00 \(afternoon 15:00, /],
    ['end of the month', /^'end of day' is read as 17:00 /],
    ['half past five', /'5:30' is read on the 24-hour clock: 05:30/],
    ['8 in the evening', /'8' in the evening is read as 8pm/],
    ['a week from today', /09:00 is used/],
  ])('is noted for %s', (text, note) => {
    expect(notes(text)).toMatch(note)
  })

  it('uses the second of two equal wall times if the first has passed', () => {
    const between = { now: Date.parse('2026-10-25T01:20Z'), timezone: 'Europe/Rome' }
    for (const text of ['at 02:40', 'sunday at 2:40am', 'october 25 at 02:40']) {
      const { at, notes: parsed } = parseTime(text, between)
      expect(at).toBe(Date.parse('2026-10-25T01:40Z'))
      expect(parsed.join()).toMatch(/occurs twice.*this is the second/)
    }
  })

  it('notes that a month is too short', () => {
    expect(notes('in 1 month', Date.parse('2026-01-31T10:00Z'))).toMatch(/no day 31/)
  })

  it('has no note if nothing was left open', () => {
    for (const text of ['tomorrow at 5pm', 'friday at 15:00', 'in 2 hours', 'noon'])
      expect(notes(text)).toBe('')
  })
})

describe('refusals', () => {
  it.each([
    ['03/04', /'April 3' or 'March 4'/],
    ['03/04/2026 at 5pm', /'April 3' or 'March 4'/],
    ['at 5', /'5am' \(05:00\) or '5pm' \(17:00\)/],
    ['tomorrow at 12', /'12am' \(00:00\) or '12pm' \(12:00\)/],
    ['call mom tomorrow at 5pm', /not understood: 'call', 'mom'/],
    ['tomorrow at 5pm EST', /'est'\. Set the zone with `timezone`/],
    ['last friday at 3pm', /'last'/],
    ['monday 13 march at 3pm', /not on that weekday/],
    ['feb 30 at 5pm', /no February 30/],
    ['29 feb 2027 at 5pm', /no February 29 in 2027/],
    ['tomorrow at 25:00', /'25:00' is not a time of day/],
    ['tomorrow at 13pm', /'13pm' is not a time of day/],
    ['5pm 6pm', /two times/],
    ['tomorrow friday monday', /two/],
    ['in 2 hours at 5pm', /both/],
    ['in 2 days on friday', /two dates/],
    ['in 1.5 days', /smaller units/],
    ['florp morning', /not understood: 'florp'/],
    ['this morning', /is read as 09:00, which has passed/],
    ['5pm in the morning', /'5pm' is not a time of the morning/],
    ['friday night at 1am', /'1am' is not a time of the night/],
    ['end of the week', /'friday' or 'sunday'/],
    ['3 hours from today', /'from'/],
    ['half past 13pm', /'13:30pm' is not a time of day/],
    ['half past nonsense', /'half', 'past', 'nonsense'/],
    ['soon', /not understood: 'soon'\. Forms/],
    ['sometime later', /not understood: 'sometime', 'later'\. Forms/],
    ['tomorow tomorow', /Did you mean 'tomorrow'\?/],
    ['tomorow at 5pm', /not understood: 'tomorow'. Did you mean 'tomorrow'\?/],
    ['wensday at 9am', /Did you mean 'wednesday'\?/],
    ['evry mondey at 9am', /Did you mean 'every', 'monday'\?/],
    ['2026-13-01T09:00:00Z', /no such day.*'2026-12-24T18:00:00Z'\.$/],
    ['tonight at 10am', /'tonight' has no 10:00/],
    ['3rd next friday', /two dates/],
    ['today', /09:00, which has passed/],
    ['in 9000 years', /years 1970 to 9999/],
    ['999999999 weeks from now', /years 1970 to 9999/],
    ['at', /'at'/],
    ['', /empty/],
    ['x'.repeat(2000), /1000 characters/],
  ])('%s', (text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: 'invalid_time', message: expect.stringMatching(message) }),
    )
  })
})

it('refuses a recurrence where one instant is expected', () => {
  for (const text of ['every weekday at 9am', 'mondays at 9am', 'daily']) {
    expect(() => parseTime(text, { now, timezone: 'Europe/Rome' })).toThrow(/recurs.*one instant.*\{ cron/)
  }
})

describe('the settings of phrases', () => {
  function readWith(phrases: PhraseSettings, text: string) {
    const parsed = parse(text, { now, timezone: 'Europe/Rome', phrases: assertPhraseSettings(phrases) })
    return 'instant' in parsed ? formatLocal(parsed.instant, 'Europe/Rome').slice(0, 16) : parsed.rule
  }

  it.each([
    ['24h', 'tomorrow at 9', '2026-03-05T09:00'],
    ['24h', 'tomorrow at 5', '2026-03-05T05:00'],
    ['24h', 'tomorrow at 12', '2026-03-05T12:00'],
    ['12h', 'tomorrow at 9', '2026-03-05T09:00'],
    ['12h', 'tomorrow at 5', '2026-03-05T17:00'],
    ['12h', 'tomorrow at 12', '2026-03-05T12:00'],
    ['12h', 'tomorrow at 5:30', '2026-03-05T17:30'],
    ['12h', 'tomorrow at half past 6', '2026-03-05T18:30'],
    ['12h', 'tomorrow at 05:30', '2026-03-05T05:30'],
    ['12h', 'tomorrow at 5am', '2026-03-05T05:00'],
    ['12h', 'tonight at 7', '2026-03-04T19:00'],
  ] as const)('%s: %s', (clock, text, wall) => {
    expect(readWith({ clock }, text)).toBe(wall)
  })

  it('apply to recurring phrases', () => {
    expect(readWith({ clock: '12h' }, 'every weekday at 5')).toMatchObject({ cron: '0 17 * * 1-5' })
    expect(readWith({ clock: '12h' }, 'every hour between 9 and 5')).toMatchObject({ cron: '0 9-16 * * *' })
    expect(readWith({ times: { morning: '07:30' } }, 'every morning')).toMatchObject({ cron: '30 7 * * *' })
    expect(readWith({ times: { eod: '18:00' } }, 'every friday at eod')).toMatchObject({ cron: '0 18 * * 5' })
  })

  it('say what words mean', () => {
    expect(readWith({ times: { morning: '07:30' } }, 'tomorrow morning')).toBe('2026-03-05T07:30')
    expect(readWith({ times: { tonight: '21:15' } }, 'tonight')).toBe('2026-03-04T21:15')
    expect(readWith({ times: { eod: '18:00' } }, 'end of the month')).toBe('2026-03-31T18:00')
    expect(readWith({ times: { morning: '07:30' } }, 'tomorrow at 5pm')).toBe('2026-03-05T17:00')
  })

  it.each([
    [{ clock: '18h' }, 'phrases.clock', /one of 12h, 24h/],
    [{ times: { morning: '7' } }, 'phrases.times.morning', /a time such as '08:00', not '7'/],
    [{ times: { mornin: '07:00' } }, 'phrases.times', /morning/],
    [{ hours: 24 }, 'phrases', /hours/],
    ['24h', 'phrases', /must be an object/],
    [{ times: 'morning' }, 'phrases.times', /must be an object/],
  ])('refuse %o', (settings, field, message) => {
    expect(() => assertPhraseSettings(settings as PhraseSettings)).toThrow(
      expect.objectContaining({ field, message: expect.stringMatching(message) }),
    )
  })
})
