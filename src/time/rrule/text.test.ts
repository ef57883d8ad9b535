import { expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { describeRrule } from './description.ts'
import { compileRrule } from './rrule.ts'
import { parseRrule } from './text.ts'

it('parses a recurrence, in any case, folded, with or without the name RRULE', () => {
  const read = parseRrule(
    'dtstart;tzid="europe/rome":20260105T090000\r\nrrule:freq=weekly;by\r\n day=mo,\r\n\tFR;interval=2;\r\nExDate:20260119T090000,20260123T090000\r\n',
  )
  expect(read).toEqual({
    timezone: 'Europe/Rome',
    start: { kind: 'local', second: Date.UTC(2026, 0, 5, 9) / 1000 },
    rules: [
      {
        freq: 'WEEKLY',
        interval: 2,
        wkst: 0,
        byDay: [
          { weekday: 0, nth: 0 },
          { weekday: 4, nth: 0 },
        ],
      },
    ],
    added: [],
    removed: [19, 23].map((day) => ({ kind: 'local', second: Date.UTC(2026, 0, day, 9) / 1000 })),
  })
  expect(parseRrule('FREQ=DAILY')).toEqual(parseRrule('RRULE:FREQ=DAILY'))
  expect(parseRrule('DTSTART:20260105T090000Z\nFREQ=DAILY').timezone).toBe('UTC')
  expect(parseRrule('DTSTART;VALUE=DATE:20260105\nFREQ=DAILY').timezone).toBeUndefined()
})

it.each<[text: string, why: RegExp]>([
  ['', /has no RRULE/],
  ['DTSTART:20260105T090000', /has no RRULE/],
  ['every day', /not NAME:value/],
  ['COUNT=5', /no FREQ/],
  ['FREQ=FORTNIGHTLY', /not one of SECONDLY/],
  ['FREQ=DAILY;FREQ=DAILY', /twice/],
  ['FREQ=DAILY;BYEASTER=1', /'BYEASTER' is unknown/],
  ['FREQ=DAILY;RSCALE=GREGORIAN', /'RSCALE' is unknown/],
  ['FREQ=DAILY;DTSTART=20260101T000000Z', /a line of its own/],
  ['FREQ=DAILY;COUNT', /NAME=value/],
  ['FREQ=DAILY;COUNT=', /NAME=value/],
  ['FREQ=DAILY;;COUNT=1', /NAME=value/],
  ['FREQ=DAILY;COUNT=0', /COUNT='0' is not a whole number from 1/],
  ['FREQ=DAILY;COUNT=-1', /COUNT/],
  ['FREQ=DAILY;INTERVAL=0', /INTERVAL/],
  ['FREQ=DAILY;INTERVAL=1.5', /INTERVAL/],
  ['FREQ=DAILY;COUNT=1;UNTIL=20260101', /exclude each other/],
  ['FREQ=DAILY;UNTIL=tomorrow', /20261224/],
  ['FREQ=DAILY;UNTIL=20260230', /does not exist/],
  ['FREQ=DAILY;UNTIL=15990101', /1600 to 9999/],
  ['FREQ=DAILY;BYHOUR=24', /BYHOUR='24'/],
  ['FREQ=DAILY;BYMINUTE=60', /BYMINUTE/],
  ['FREQ=DAILY;BYSECOND=61', /BYSECOND/],
  ['FREQ=DAILY;BYHOUR=', /NAME=value/],
  ['FREQ=DAILY;BYHOUR=1,', /BYHOUR/],
  ['FREQ=DAILY;BYMONTH=13', /BYMONTH/],
  ['FREQ=DAILY;BYMONTH=-1', /BYMONTH/],
  ['FREQ=DAILY;BYMONTHDAY=0', /BYMONTHDAY/],
  ['FREQ=DAILY;BYMONTHDAY=-32', /BYMONTHDAY/],
  ['FREQ=YEARLY;BYYEARDAY=367', /BYYEARDAY/],
  ['FREQ=YEARLY;BYWEEKNO=54', /BYWEEKNO/],
  ['FREQ=WEEKLY;BYDAY=MON', /BYDAY='MON' is not a weekday\. Write MO/],
  ['FREQ=MONTHLY;BYDAY=0MO', /BYDAY/],
  ['FREQ=MONTHLY;BYDAY=54MO', /BYDAY/],
  ['FREQ=WEEKLY;WKST=1MO', /WKST/],
  ['FREQ=WEEKLY;BYDAY=1MO', /MONTHLY or YEARLY/],
  ['FREQ=DAILY;BYDAY=-1FR', /MONTHLY or YEARLY/],
  ['FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO', /BYWEEKNO/],
  ['FREQ=MONTHLY;BYWEEKNO=1', /BYWEEKNO cannot be used with FREQ=MONTHLY/],
  ['FREQ=DAILY;BYYEARDAY=1', /BYYEARDAY cannot be used/],
  ['FREQ=WEEKLY;BYMONTHDAY=1', /BYMONTHDAY cannot be used/],
  ['FREQ=DAILY;BYSETPOS=1', /BYSETPOS needs/],
  ['FREQ=DAILY;BYHOUR=1;BYSETPOS=0', /BYSETPOS/],
  ['EXRULE:FREQ=DAILY', /EXDATE/],
  ['RRULE:FREQ=DAILY\nDTEND:20260101T000000', /'DTEND' is unknown/],
  ['RRULE;X-A=1:FREQ=DAILY', /'X-A'/],
  ['DTSTART:20260101T000000\nDTSTART:20260101T000000\nFREQ=DAILY', /DTSTART appears twice/],
  ['DTSTART;TZID=Europe/Rome:20260101T000000Z\nFREQ=DAILY', /Leave out the Z/],
  ['DTSTART;VALUE=DATE:20260101T000000\nFREQ=DAILY', /VALUE='DATE' does not fit/],
  ['DTSTART;LANGUAGE=en:20260101\nFREQ=DAILY', /TZID and VALUE/],
  ['DTSTART:20260101T246000\nFREQ=DAILY', /does not exist/],
  ['RDATE;VALUE=PERIOD:20260101T000000Z', /not a period/],
  ['EXDATE:20260101T000000,\nFREQ=DAILY', /EXDATE/],
  ['FREQ=DAILY\nFREQ=DAILY\nFREQ=DAILY\nFREQ=DAILY\nFREQ=DAILY', /more than 4/],
  [`FREQ=DAILY;BYHOUR=${'1,'.repeat(5000)}1`, /at most 8000/],
])('refuses %j', (text, why) => {
  expect(() => parseRrule(text)).toThrow(
    expect.objectContaining({ code: 'invalid_rule', message: expect.stringMatching(why) }),
  )
})

it('refuses an unknown zone', () => {
  expect(() => parseRrule('DTSTART;TZID=Europe/Roma:20260101T000000\nFREQ=DAILY')).toThrow(
    expect.objectContaining({ code: 'invalid_timezone' }),
  )
})

it.each<[text: string, why: RegExp]>([
  ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', /no such day/],
  ['FREQ=MONTHLY;BYMONTH=2,4,6,9,11;BYMONTHDAY=31', /no such day/],
  ['FREQ=MONTHLY;BYDAY=6MO', /no such day/],
  ['DTSTART:20260105T000000Z\nFREQ=DAILY;INTERVAL=7;BYDAY=TU', /no such day/],
  ['DTSTART:20250101T000000Z\nFREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29', /no such day/],
  ['DTSTART:20250101T040000Z\nFREQ=HOURLY;INTERVAL=24;BYHOUR=5', /no such day/],
  ['DTSTART:20250101T040000Z\nFREQ=SECONDLY;INTERVAL=60;BYSECOND=5', /no such day/],
  ['FREQ=DAILY;BYHOUR=1,2;BYSETPOS=3', /no such day/],
  ['DTSTART:20260105T000000Z\nFREQ=DAILY;UNTIL=20260104', /UNTIL is before/],
  [
    'DTSTART:20260105T000000Z\nFREQ=DAILY;COUNT=2\nEXDATE:20260105T000000,20260106T000000',
    /EXDATEs leave none/,
  ],
])('refuses %j when compiled, at once', (text, why) => {
  const started = cpuMs()
  expect(() => compileRrule(text, { timezone: 'UTC', anchor: 0 })).toThrow(
    expect.objectContaining({ code: 'invalid_rule', message: expect.stringMatching(why) }),
  )
  expect(cpuMs() - started).toBeLessThan(500)
})

it.each([
  ['FREQ=DAILY', 'every day'],
  ['FREQ=DAILY;INTERVAL=3;COUNT=10', 'every 3 days, 10 times'],
  ['FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30;BYSECOND=0', 'every day at 09:30 and 17:30'],
  ['FREQ=HOURLY;INTERVAL=2', 'every 2 hours'],
  ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0', 'Monday to Friday at 09:00'],
  ['DTSTART;TZID=Europe/Rome:20260105T090000\nRRULE:FREQ=WEEKLY', 'every Monday at 09:00, from 2026-01-05'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SA', 'every 2 weeks on Tuesday and Saturday'],
  ['FREQ=MONTHLY;BYMONTHDAY=1,15', 'on days 1 and 15 of every month'],
  ['FREQ=MONTHLY;BYMONTHDAY=-1;UNTIL=20261224', 'on the last day of every month, until 2026-12-24'],
  ['FREQ=MONTHLY;INTERVAL=3;BYDAY=1MO', 'every 3 months on the first Monday'],
  ['FREQ=MONTHLY;BYDAY=-1FR', 'on the last Friday of every month'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', 'on the last day from Monday to Friday of every month'],
  ['FREQ=YEARLY;BYMONTH=11;BYDAY=4TH', 'every year on the fourth Thursday of November'],
  ['FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24', 'every year on December 24'],
  [
    'DTSTART:20260229T090000\nFREQ=YEARLY'.replace('0229', '0228'),
    'every year on February 28 at 09:00, from 2026-02-28',
  ],
  [
    'DTSTART:20260105T090000\nFREQ=DAILY;UNTIL=20260201T080000Z\nRDATE:20270101T000000\nEXDATE:20260107T090000,20260108T090000',
    'every day at 09:00, from 2026-01-05, until 2026-02-01 08:00 UTC, and on 1 date more, except on 2 dates',
  ],
  ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', "at the times of rrule 'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO'"],
  ['FREQ=HOURLY;BYMINUTE=0,30', "at the times of rrule 'FREQ=HOURLY;BYMINUTE=0,30'"],
])('describes %j', (text, words) => {
  expect(describeRrule(text)).toBe(words)
})
