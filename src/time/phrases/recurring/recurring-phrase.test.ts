import { describe, expect, it } from 'vitest'
import { parseRecurring } from './recurring-phrase.ts'

/** Wednesday, 10:30:15 in Rome. */
const now = Date.parse('2026-03-04T09:30:15.123Z')
const rome = { now, timezone: 'Europe/Rome' }

function read(text: string, context = rome) {
  const { notes: _notes, ...phrase } = parseRecurring(text, context)!
  return phrase
}

function notes(text: string, context = rome): string {
  return parseRecurring(text, context)!.notes.join('; ')
}

describe('recurring phrases on the calendar', () => {
  it.each([
    ['every weekday at 9am', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['at 9am every weekday', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['weekdays 9am', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['mon-fri 9am', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['Monday to Friday at 09:00', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['from monday through friday at 9am', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['every day at 18:00', '0 18 * * *', 'every day at 18:00'],
    ['daily at noon', '0 12 * * *', 'every day at 12:00'],
    ['every day at midnight', '0 0 * * *', 'every day at 00:00'],
    ['each day at 17:30:15', '15 30 17 * * *', 'every day at 17:30:15'],
    ['once a day at 6pm', '0 18 * * *', 'every day at 18:00'],
    ['every day at 9am and 5pm', '0 9,17 * * *', 'every day at 09:00 and 17:00'],
    ['every day at 9:00 and 17:00', '0 9,17 * * *', 'every day at 09:00 and 17:00'],
    ['at 9, 12 and 15 every day', '0 9,12,15 * * *', 'every day at 09:00, 12:00 and 15:00'],
    ['every day at 9am and 9:30am', '0,30 9 * * *', 'every day at 09:00 and 09:30'],
    ['every morning at 8', '0 8 * * *', 'every day at 08:00'],
    ['every evening at 8:30', '30 20 * * *', 'every day at 20:30'],
    ['every night at 2', '0 2 * * *', 'every day at 02:00'],
    ['nightly at 11', '0 23 * * *', 'every day at 23:00'],
    ['mondays at 8 in the morning', '0 8 * * 1', 'every Monday at 08:00'],
    ['weekly on monday at 9am', '0 9 * * 1', 'every Monday at 09:00'],
    ['every week on monday at 9am', '0 9 * * 1', 'every Monday at 09:00'],
    ['mondays at 8am', '0 8 * * 1', 'every Monday at 08:00'],
    ['every monday and thursday at 10:30', '30 10 * * 1,4', 'every Monday and Thursday at 10:30'],
    ['every mon, wed & fri at 7am', '0 7 * * 1,3,5', 'every Monday, Wednesday and Friday at 07:00'],
    ['weekends at 10am', '0 10 * * 0,6', 'every Saturday and Sunday at 10:00'],
    ['every weekend at 10am', '0 10 * * 0,6', 'every Saturday and Sunday at 10:00'],
    ['every day except sunday at 9am', '0 9 * * 1-6', 'every Monday to Saturday at 09:00'],
    ['every weekday except on friday at 9am', '0 9 * * 1-4', 'every Monday to Thursday at 09:00'],
    ['daily on weekdays at 9am', '0 9 * * 1-5', 'every weekday at 09:00'],
    ['every monday in december at 9am', '0 9 * 12 1', 'every Monday in December at 09:00'],
    ['every day in june and july at 9am', '0 9 * 6,7 *', 'every day in June and July at 09:00'],
    ['first monday of each month at 10:00', '0 10 * * 1#1', 'on the first Monday of every month at 10:00'],
    [
      'every month on the first monday at 10am',
      '0 10 * * 1#1',
      'on the first Monday of every month at 10:00',
    ],
    [
      'every second tuesday of the month at 9am',
      '0 9 * * 2#2',
      'on the second Tuesday of every month at 09:00',
    ],
    ['last friday of the month at 17:00', '0 17 * * 5L', 'on the last Friday of every month at 17:00'],
    ['every last friday at 17:00', '0 17 * * 5L', 'on the last Friday of every month at 17:00'],
    [
      'first and third monday of the month at 9am',
      '0 9 * * 1#1,1#3',
      'on the first Monday and third Monday of every month at 09:00',
    ],
    [
      'first monday and last friday of every month at 9am',
      '0 9 * * 1#1,5L',
      'on the first Monday and last Friday of every month at 09:00',
    ],
    [
      'on the 1st and 15th of every month at 9am',
      '0 9 1,15 * *',
      'on the 1st and 15th of every month at 09:00',
    ],
    ['every month on the first at 9am', '0 9 1 * *', 'on the 1st of every month at 09:00'],
    ['first of every month at 9am', '0 9 1 * *', 'on the 1st of every month at 09:00'],
    ['every 15th at 9am', '0 9 15 * *', 'on the 15th of every month at 09:00'],
    ['every month on the 31st at 9am', '0 9 31 * *', 'on the 31st of every month at 09:00'],
    ['last day of the month at 23:00', '0 23 L * *', 'on the last day of every month at 23:00'],
    [
      '1st and last day of every month at noon',
      '0 12 1,L * *',
      'on the 1st and last day of every month at 12:00',
    ],
    ['first weekday of the month at 9am', '0 9 1W * *', 'on the first weekday of every month at 09:00'],
    ['last weekday of the month at 17:00', '0 17 LW * *', 'on the last weekday of every month at 17:00'],
    ['every year on december 24 at 18:00', '0 18 24 12 *', 'every year on December 24 at 18:00'],
    ['every 24th of december at 18:00', '0 18 24 12 *', 'every year on December 24 at 18:00'],
    ['annually on 24/12 at 6pm', '0 18 24 12 *', 'every year on December 24 at 18:00'],
    [
      'every december 24 and 25 at noon',
      '0 12 24,25 12 *',
      'every year on the 24th and 25th of December at 12:00',
    ],
    [
      'every year on the 1st of january and july at 9am',
      '0 9 1 1,7 *',
      'every year on the 1st of January and July at 09:00',
    ],
    [
      'fourth thursday of november every year at noon',
      '0 12 * 11 4#4',
      'every year on the fourth Thursday of November at 12:00',
    ],
  ])('%s', (text, cron, canonical) => {
    expect(read(text)).toEqual({ cron, canonical })
  })
})

describe('recurring phrases of hours and less', () => {
  it.each([
    ['every 15 minutes', { every: '15m' }, 'every 15 minutes'],
    ['every 2 hours', { every: '2h' }, 'every 2 hours'],
    ['every hour', { every: '1h' }, 'every hour'],
    ['hourly', { every: '1h' }, 'every hour'],
    ['every minute', { every: '1m' }, 'every minute'],
    ['every second', { every: '1s' }, 'every second'],
    ['every half an hour', { every: '30m' }, 'every 30 minutes'],
    ['every quarter of an hour', { every: '15m' }, 'every 15 minutes'],
    ['every 1 hour and 30 minutes', { every: '1h30m' }, 'every 90 minutes'],
    ['every 36 hours', { every: '1d12h' }, 'every 36 hours'],
    ['every 61.5 seconds', { every: '1m1s500ms' }, 'every 1 minute, 1 second and 500 milliseconds'],
    ['every other hour', { every: '2h' }, 'every 2 hours'],
    ['every hour on the hour', { cron: '0 * * * *' }, 'every hour at :00'],
    ['hourly at :15', { cron: '15 * * * *' }, 'every hour at :15'],
    ['every 15 minutes on weekdays', { cron: '*/15 * * * 1-5' }, 'every 15 minutes on weekdays'],
    [
      'every 15 minutes between 9 and 17',
      { cron: '*/15 9-16 * * *' },
      'every 15 minutes between 09:00 and 17:00',
    ],
    [
      'every 15 minutes from 9am to 5pm',
      { cron: '*/15 9-16 * * *' },
      'every 15 minutes between 09:00 and 17:00',
    ],
    [
      'between 9-17 on weekdays every 15 minutes',
      { cron: '*/15 9-16 * * 1-5' },
      'every 15 minutes between 09:00 and 17:00 on weekdays',
    ],
    ['every minute between 09:00 and 10:00', { cron: '* 9 * * *' }, 'every minute between 09:00 and 10:00'],
    ['every hour between 9am and midnight', { cron: '0 9-23 * * *' }, 'every hour between 09:00 and 00:00'],
    ['every hour between 9 and 24', { cron: '0 9-23 * * *' }, 'every hour between 09:00 and 00:00'],
    [
      'every hour at :15 between 9 and 17',
      { cron: '15 9-16 * * *' },
      'every hour at :15 between 09:00 and 17:00',
    ],
    ['every 2 hours between 9 and 17', { cron: '0 9-15/2 * * *' }, 'every 2 hours between 09:00 and 17:00'],
    ['every 2 hours between 22 and 6', { cron: '0 22,0,2,4 * * *' }, 'every 2 hours between 22:00 and 06:00'],
    [
      'every 30 minutes between 22 and 6',
      { cron: '*/30 22,23,0-5 * * *' },
      'every 30 minutes between 22:00 and 06:00',
    ],
    [
      'every 30 seconds between 9 and 17',
      { cron: '*/30 * 9-16 * * *' },
      'every 30 seconds between 09:00 and 17:00',
    ],
  ])('%s', (text, when, canonical) => {
    expect(read(text)).toEqual({ ...when, canonical })
  })
})

describe('recurring phrases every several days, weeks, months or years', () => {
  it.each([
    ['every other tuesday at 9am', '20260310T090000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU'],
    ['every other wednesday at 9am', '20260311T090000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=WE'],
    ['every other wednesday at 11am', '20260304T110000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=WE'],
    ['every second weekend at 10am', '20260307T100000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU'],
    ['every other weekend at 10am', '20260307T100000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU'],
    ['every 2 weeks on friday at 16:00', '20260306T160000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR'],
    ['fortnightly on friday at 16:00', '20260306T160000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR'],
    ['every 3 days at 7am', '20260305T070000', 'FREQ=DAILY;INTERVAL=3'],
    ['every second day at 7pm', '20260304T190000', 'FREQ=DAILY;INTERVAL=2'],
    ['every 2 months on the 31st at 9am', '20260331T090000', 'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=31'],
    ['last day of every 2 months at 9am', '20260331T090000', 'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1'],
    ['first monday of every 3 months at 9am', '20260406T090000', 'FREQ=MONTHLY;INTERVAL=3;BYDAY=1MO'],
    ['last friday of every other month at 9am', '20260327T090000', 'FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR'],
    [
      'last weekday of every 2 months at 17:00',
      '20260331T170000',
      'FREQ=MONTHLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
    ],
    [
      'every 2 years on december 24 at 18:00',
      '20261224T180000',
      'FREQ=YEARLY;INTERVAL=2;BYMONTH=12;BYMONTHDAY=24',
    ],
    [
      'every 4 years on february 29 at noon',
      '20280229T120000',
      'FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29',
    ],
    [
      'every 2 weeks on monday and friday at 9am and 5pm',
      '20260306T090000',
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=9,17;BYMINUTE=0;BYSECOND=0',
    ],
    ['every 3 days at 7am starting 2026-12-01', '20261201T070000', 'FREQ=DAILY;INTERVAL=3'],
    ['every other tuesday at 9am starting 2025-01-01', '20250107T090000', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU'],
  ])('%s', (text, start, rule) => {
    expect(read(text)).toMatchObject({ rrule: `DTSTART;TZID=Europe/Rome:${start}\nRRULE:${rule}` })
    expect(notes(text)).toContain('counted from')
  })

  it('are counted from a day of the zone, not of the host', () => {
    const lateInUtc = Date.parse('2026-03-04T20:00:00Z')
    const start = (timezone: string) => read('every 3 days at 7am', { now: lateInUtc, timezone })
    expect(start('Asia/Tokyo')).toMatchObject({
      rrule: expect.stringContaining('Asia/Tokyo:20260305T070000'),
    })
    expect(start('America/New_York')).toMatchObject({ rrule: expect.stringContaining('20260305T070000') })
    expect(start('Pacific/Kiritimati')).toMatchObject({ rrule: expect.stringContaining('20260306T070000') })
  })
})

describe('bounds of recurring phrases', () => {
  it.each([
    ['every weekday at 9am until 2027-01-01', { end: '2027-01-01T23:59:59.999' }],
    ['every weekday at 9am until friday', { end: '2026-03-06T23:59:59.999' }],
    ['every weekday at 9am until december 24 at 18:00', { end: '2026-12-24T18:00:00' }],
    ['every weekday at 9am ending 2027-01-01T10:00Z', { end: '2027-01-01T11:00:00+01:00' }],
    ['every weekday at 9am starting 2026-12-01', { start: '2026-12-01T00:00:00' }],
    ['starting 2026-12-01 every weekday at 9am', { start: '2026-12-01T00:00:00' }],
    ['every weekday at 9am starting today', {}],
    ['every weekday at 9am from now on', {}],
    ['every weekday starting tomorrow at 9am', { start: '2026-03-05T00:00:00' }],
    ['every weekday at 9am for 10 times', { count: 10 }],
    ['every weekday at 9am, ten times', { count: 10 }],
    [
      'every weekday at 9am from 2026-12-01 until 2027-01-01, 5 times',
      { start: '2026-12-01T00:00:00', end: '2027-01-01T23:59:59.999', count: 5 },
    ],
  ])('%s', (text, bounds) => {
    const { canonical: _wording, ...when } = read(text)
    expect(when).toEqual({ cron: '0 9 * * 1-5', ...bounds })
  })

  it('give an interval its first instant', () => {
    expect(read('every 2 hours starting at 9am')).toMatchObject({ every: '2h', start: '2026-03-05T09:00:00' })
    expect(read('every 2 hours starting tomorrow')).toMatchObject({
      every: '2h',
      start: '2026-03-05T00:00:00',
    })
  })
})

it('reads every fortnight as every 2 weeks', () => {
  expect(read('every fortnight on friday at 9am')).toEqual(read('every 2 weeks on friday at 9am'))
})

describe('what a recurring phrase leaves open', () => {
  it.each([
    ['every monday', /09:00 is used/],
    ['daily', /09:00 is used/],
    ['weekly at 9am', /Wednesday is used/],
    ['monthly at 9am', /there is no day: that of 2026-03-04/],
    ['yearly at 9am', /there is no day: that of 2026-03-04/],
    ['every hour', /from the moment it is set/],
    ['every 15 minutes on weekdays', /from the full hour/],
    ['every 15 minutes between 9 and 17', /17:00 itself is not included.*16:45/],
    ['every 2 hours between 9 and 17', /the last of the span is at 15:00/],
    ['every month on the 31st at 9am', /without a day 31 are skipped/],
    ['every month on the 30th at 9am', /without a day 30 are skipped/],
    ['every february 29 at noon', /years without a February 29 are skipped/],
    ['fifth monday of every month at 9am', /without a fifth are skipped/],
    ['last weekday of every month at 9am', /holidays are not known/],
    ['last friday of the month at 17:00', /read as every month/],
    ['every weekday at 9am until 2027-01-01', /2027-01-01 is included/],
    ['every weekday at 9am until friday', /the end is read as 2026-03-06/],
    ['mondays at midnight', /00:00, the start of that day/],
    ['every evening at 8', /read as 8pm/],
    ['every day at 5:30', /24-hour clock: 05:30/],
  ])('is noted for %s', (text, note) => {
    expect(notes(text)).toMatch(note)
  })

  it('comes from today', () => {
    expect(read('weekly at 9am')).toMatchObject({ cron: '0 9 * * 3' })
    expect(read('monthly')).toMatchObject({ cron: '0 9 4 * *' })
    expect(read('yearly')).toMatchObject({ cron: '0 9 4 3 *' })
    expect(read('weekly at 9am starting 2026-12-01')).toMatchObject({ cron: '0 9 * * 2' })
  })

  it('is the last day where a month lacks that of today, also in its canonical form', () => {
    const context = { now: Date.parse('2027-01-31T10:00Z'), timezone: 'Europe/Rome' }
    for (const text of [
      'monthly',
      'every 2 months at 8am and 8pm',
      'monthly at 9am, 3 times',
      'monthly at 9am starting 2028-02-29',
      'yearly starting 2028-02-29',
      'every month at 9am starting 2027-03-30T15:00',
    ]) {
      const { canonical, notes: noted, ...when } = parseRecurring(text, context)!
      const { canonical: again, notes: _, ...read } = parseRecurring(canonical, context)!
      expect({ again, ...read }).toEqual({ again: canonical, ...when })
      expect(noted.join()).toMatch(/the last day of shorter months|February 28 in common years/)
    }
  })

  it('has no note if nothing was left open', () => {
    for (const text of ['every weekday at 9am', 'first monday of each month at 10:00', 'mondays at 8am']) {
      expect(notes(text)).toBe('')
    }
  })
})
