import { describe, expect, it } from 'vitest'
import { compileRrule, type RruleContext } from './rrule.ts'

const NEW_YORK = 'DTSTART;TZID=America/New_York:19970902T090000\n'
const anchor = Date.parse('2026-03-04T09:30:15.123Z')

function wallTimes(text: string, most = 100, context: RruleContext = { timezone: 'UTC', anchor }): string[] {
  const { next: nextWallTime } = compileRrule(text, context).wallTimes
  const found: string[] = []
  let at: number | null = Number.NEGATIVE_INFINITY
  while (found.length < most) {
    at = nextWallTime(at)
    if (at === null) break
    found.push(new Date(at).toISOString().slice(0, 19))
  }
  return found
}

/** `1997-09: 2 3; 1998-01: 5` as dates; the hour is 09:00 if the example has none. */
function dates(short: string): string[] {
  return short.split(';').flatMap((group) => {
    const [month, days] = group.trim().split(': ') as [string, string]
    return days.split(' ').map((day) => `${month}-${day.padStart(2, '0')}`)
  })
}

describe('the examples of RFC 5545, section 3.8.5.3', () => {
  it.each<[rule: string, expected: string]>([
    ['FREQ=DAILY;COUNT=10', '1997-09: 2 3 4 5 6 7 8 9 10 11'],
    ['FREQ=DAILY;INTERVAL=10;COUNT=5', '1997-09: 2 12 22; 1997-10: 2 12'],
    ['FREQ=WEEKLY;COUNT=10', '1997-09: 2 9 16 23 30; 1997-10: 7 14 21 28; 1997-11: 4'],
    [
      'FREQ=WEEKLY;UNTIL=19971224T000000Z',
      '1997-09: 2 9 16 23 30; 1997-10: 7 14 21 28; 1997-11: 4 11 18 25; 1997-12: 2 9 16 23',
    ],
    [
      'FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH',
      '1997-09: 2 4 9 11 16 18 23 25 30; 1997-10: 2',
    ],
    ['FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH', '1997-09: 2 4 9 11 16 18 23 25 30; 1997-10: 2'],
    ['FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH', '1997-09: 2 4 16 18 30; 1997-10: 2 14 16'],
    [
      'FREQ=YEARLY;COUNT=6;BYMONTH=6,7',
      '1998-06: 2; 1998-07: 2; 1999-06: 2; 1999-07: 2; 2000-06: 2; 2000-07: 2',
    ],
    [
      'FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15',
      '1997-09: 2 15; 1997-10: 2 15; 1997-11: 2 15; 1997-12: 2 15; 1998-01: 2 15',
    ],
    [
      'FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1',
      '1997-09: 30; 1997-10: 1 31; 1997-11: 1 30; 1997-12: 1 31; 1998-01: 1 31; 1998-02: 1',
    ],
    [
      'FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15',
      '1997-09: 10 11 12 13 14 15; 1999-03: 10 11 12 13',
    ],
    [
      'FREQ=MONTHLY;COUNT=6;BYDAY=-2MO',
      '1997-09: 22; 1997-10: 20; 1997-11: 17; 1997-12: 22; 1998-01: 19; 1998-02: 16',
    ],
    [
      'FREQ=MONTHLY;COUNT=6;BYMONTHDAY=-3',
      '1997-09: 28; 1997-10: 29; 1997-11: 28; 1997-12: 29; 1998-01: 29; 1998-02: 26',
    ],
    ['FREQ=MONTHLY;INTERVAL=2;BYDAY=TU;COUNT=9', '1997-09: 2 9 16 23 30; 1997-11: 4 11 18 25'],
    [
      'FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200',
      '2000-01: 1; 2000-04: 9; 2000-07: 18; 2003-01: 1; 2003-04: 10; 2003-07: 19; 2006-01: 1; 2006-04: 10; 2006-07: 19; 2009-01: 1',
    ],
    ['FREQ=YEARLY;BYDAY=20MO;COUNT=3', '1998-05: 18; 1999-05: 17; 2000-05: 15'],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3', '1998-05: 11; 1999-05: 17; 2000-05: 15'],
    ['FREQ=YEARLY;BYMONTH=3;BYDAY=TH;COUNT=7', '1998-03: 5 12 19 26; 1999-03: 4 11 18'],
    [
      'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=5',
      '1998-02: 13; 1998-03: 13; 1998-11: 13; 1999-08: 13; 2000-10: 13',
    ],
    [
      'FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13;COUNT=5',
      '1997-09: 13; 1997-10: 11; 1997-11: 8; 1997-12: 13; 1998-01: 10',
    ],
    ['FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3', '1997-09: 4; 1997-10: 7; 1997-11: 6'],
    [
      'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=4',
      '1997-09: 29; 1997-10: 30; 1997-11: 27; 1997-12: 30',
    ],
    [
      'FREQ=MONTHLY;COUNT=10;BYDAY=1FR',
      '1997-09: 5; 1997-10: 3; 1997-11: 7; 1997-12: 5; 1998-01: 2; 1998-02: 6; 1998-03: 6; 1998-04: 3; 1998-05: 1; 1998-06: 5',
    ],
    ['FREQ=MONTHLY;INTERVAL=2;COUNT=6;BYDAY=1SU,-1SU', '1997-09: 7 28; 1997-11: 2 30; 1998-01: 4 25'],
  ])('%s', (rule, expected) => {
    expect(wallTimes(`${NEW_YORK}RRULE:${rule}`)).toEqual(dates(expected).map((date) => `${date}T09:00:00`))
  })

  it('the day of presidential elections', () => {
    const text =
      'DTSTART;TZID=America/New_York:19961105T090000\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8'
    expect(wallTimes(text, 3).map((wall) => wall.slice(0, 10))).toEqual(
      dates('1996-11: 5; 2000-11: 7; 2004-11: 2'),
    )
  })

  it('every other week with both starts of the week', () => {
    const start = 'DTSTART;TZID=America/New_York:19970805T090000\n'
    const days = (wkst: string) =>
      wallTimes(`${start}RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=${wkst}`).map((wall) =>
        wall.slice(0, 10),
      )
    expect(days('MO')).toEqual(dates('1997-08: 5 10 19 24'))
    expect(days('SU')).toEqual(dates('1997-08: 5 17 19 31'))
  })

  it('hours, minutes and their limits', () => {
    const times = (rule: string, most: number) =>
      wallTimes(`${NEW_YORK}RRULE:${rule}`, most).map((wall) => wall.slice(8, 16))
    expect(times('FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000', 9)).toEqual([
      '02T09:00',
      '02T12:00',
      '02T15:00',
    ])
    expect(times('FREQ=MINUTELY;INTERVAL=90;COUNT=4', 9)).toEqual([
      '02T09:00',
      '02T10:30',
      '02T12:00',
      '02T13:30',
    ])
    const daily = times('FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40', 60)
    expect(daily.slice(0, 4)).toEqual(['02T09:00', '02T09:20', '02T09:40', '02T10:00'])
    expect(daily.slice(23, 25)).toEqual(['02T16:40', '03T09:00'])
    expect(times('FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16', 60)).toEqual(daily)
  })

  it('days that a month does not have are skipped, never moved', () => {
    const start = 'DTSTART;TZID=America/New_York:20070115T090000\n'
    expect(wallTimes(`${start}RRULE:FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5`)).toEqual(
      dates('2007-01: 15 30; 2007-02: 15; 2007-03: 15 30').map((date) => `${date}T09:00:00`),
    )
    expect(wallTimes('DTSTART:20240131T090000Z\nFREQ=MONTHLY', 3).map((wall) => wall.slice(0, 10))).toEqual([
      '2024-01-31',
      '2024-03-31',
      '2024-05-31',
    ])
    expect(wallTimes('DTSTART:20240229T090000Z\nFREQ=YEARLY', 3).map((wall) => wall.slice(0, 4))).toEqual([
      '2024',
      '2028',
      '2032',
    ])
    expect(wallTimes('DTSTART:20960229T090000Z\nFREQ=YEARLY', 2)).toEqual([
      '2096-02-29T09:00:00',
      '2104-02-29T09:00:00',
    ])
  })
})

describe('what the RFC leaves open', () => {
  it('a DTSTART that does not match is no occurrence, nor counted', () => {
    expect(wallTimes(`${NEW_YORK}RRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=1`)).toEqual([
      '1998-02-13T09:00:00',
    ])
  })

  it('BYWEEKNO without a day means the weekday of DTSTART', () => {
    expect(wallTimes(`${NEW_YORK}RRULE:FREQ=YEARLY;BYWEEKNO=20;COUNT=2`)).toEqual([
      '1998-05-12T09:00:00',
      '1999-05-18T09:00:00',
    ])
  })

  it('week 1 and week 53 extend over the end of the year', () => {
    expect(wallTimes('DTSTART:20200101T000000Z\nFREQ=YEARLY;BYWEEKNO=53;BYDAY=MO,SU', 2)).toEqual([
      '2020-12-28T00:00:00',
      '2021-01-03T00:00:00',
    ])
    expect(wallTimes('DTSTART:20241201T000000Z\nFREQ=YEARLY;BYWEEKNO=1;BYDAY=MO', 2)).toEqual([
      '2024-12-30T00:00:00',
      '2025-12-29T00:00:00',
    ])
  })

  it('BYSETPOS counts from the beginning of the period, before DTSTART too', () => {
    expect(wallTimes('DTSTART:20260115T090000Z\nFREQ=MONTHLY;BYDAY=MO;BYSETPOS=1', 1)).toEqual([
      '2026-02-02T09:00:00',
    ])
  })

  it('an UNTIL or EXDATE without a time means the whole day, an RDATE has the time of DTSTART', () => {
    const start = 'DTSTART:20260105T090000\n'
    expect(
      wallTimes(
        `${start}RRULE:FREQ=DAILY;BYHOUR=9,18;UNTIL=20260106\nEXDATE;VALUE=DATE:20260105\nRDATE;VALUE=DATE:20260110`,
      ),
    ).toEqual(['2026-01-06T09:00:00', '2026-01-06T18:00:00', '2026-01-10T09:00:00'])
  })

  it('second 60 is second 59', () => {
    expect(wallTimes('DTSTART:20260101T000000Z\nFREQ=MINUTELY;BYSECOND=59,60', 2)).toEqual([
      '2026-01-01T00:00:59',
      '2026-01-01T00:01:59',
    ])
  })
})

describe('several lines', () => {
  it('are the union of RRULEs and RDATEs without duplicates, minus EXDATEs, after COUNT', () => {
    const text =
      'dtstart;tzid=Europe/Rome:20260105T090000\nRRULE:FREQ=DAILY;COUNT=3\nRRULE:FREQ=WEEKLY;COUNT=2\nRDATE:20260106T090000,20260109T120000\nEXDATE:20260107T090000'
    expect(wallTimes(text)).toEqual([
      '2026-01-05T09:00:00',
      '2026-01-06T09:00:00',
      '2026-01-09T12:00:00',
      '2026-01-12T09:00:00',
    ])
  })

  it('may be RDATEs alone, with DTSTART as the first', () => {
    expect(wallTimes('DTSTART:20260105T090000\nRDATE:20260107T090000,20260106T090000')).toEqual([
      '2026-01-05T09:00:00',
      '2026-01-06T09:00:00',
      '2026-01-07T09:00:00',
    ])
    expect(wallTimes('RDATE;VALUE=PERIOD:20260107T090000Z/PT1H')).toEqual(['2026-01-07T09:00:00'])
  })

  it('counts instances, with added and removed dates', () => {
    const { count: countWallTimes } = compileRrule(
      'DTSTART:20260101T000000\nRRULE:FREQ=SECONDLY;BYHOUR=1\nEXDATE;VALUE=DATE:20260102\nEXDATE:20260103T010000\nRDATE:20260103T020000',
      { timezone: 'UTC', anchor },
    ).wallTimes
    expect(countWallTimes!(Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 4))).toBe(7200)
    expect(countWallTimes!(Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1))).toBe(3651 * 3600)
  })
})

describe('a rule without DTSTART', () => {
  it('uses the time and date of its creation, which is no occurrence', () => {
    expect(wallTimes('FREQ=DAILY;COUNT=2')).toEqual(['2026-03-05T09:30:15', '2026-03-06T09:30:15'])
    expect(wallTimes('FREQ=DAILY;COUNT=2', 9, { timezone: 'Asia/Tokyo', anchor })).toEqual([
      '2026-03-05T18:30:15',
      '2026-03-06T18:30:15',
    ])
    expect(wallTimes('FREQ=WEEKLY;BYHOUR=9;BYMINUTE=0;BYSECOND=0', 1)).toEqual(['2026-03-11T09:00:00'])
  })

  it('has its start as the first occurrence, and none before it', () => {
    const start = Date.parse('2026-03-04T09:30:15.500Z')
    expect(wallTimes('FREQ=DAILY;COUNT=2', 9, { timezone: 'UTC', anchor: start, start })).toEqual([
      '2026-03-04T09:30:16',
      '2026-03-05T09:30:16',
    ])
  })
})
