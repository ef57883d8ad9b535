import { describe, expect, it } from 'vitest'
import { compileRrule, rruleInterval } from './rrule.ts'
import { parseRrule } from './text.ts'

const context = { timezone: 'Europe/Rome', anchor: Date.parse('2026-03-04T09:30:15Z') }
const HOUR = 3_600_000

function wallTimes(text: string, most = 10): string[] {
  const { next: nextWallTime } = compileRrule(text, context).wallTimes
  const found: string[] = []
  for (let at = nextWallTime(0); at !== null && found.length < most; at = nextWallTime(at)) {
    found.push(new Date(at).toISOString().slice(0, 16))
  }
  return found
}

function instants(text: string, most = 10): string[] {
  const next = compileRrule(text, context).instants!.next
  const found: string[] = []
  for (let at = next(0); at !== null && found.length < most; at = next(at)) {
    found.push(new Date(at).toISOString().slice(0, 16))
  }
  return found
}

describe('instants in the text are compared as instants', () => {
  it('UNTIL in UTC ends at that instant in the zone', () => {
    const start = 'DTSTART;TZID=Europe/Rome:20260701T003000\n'
    expect(wallTimes(`${start}RRULE:FREQ=DAILY;UNTIL=20260702T223000Z`)).toEqual([
      '2026-07-01T00:30',
      '2026-07-02T00:30',
      '2026-07-03T00:30',
    ])
    expect(wallTimes(`${start}RRULE:FREQ=DAILY;UNTIL=20260702T222959Z`)).toHaveLength(2)
  })

  it('UNTIL in the hour after a gap excludes wall times that shift to later', () => {
    const rule = 'DTSTART;TZID=Europe/Rome:20260329T020000\nRRULE:FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,10,30'
    // 02:30 does not exist and shifts to 03:30, which is 01:30 UTC.
    expect(wallTimes(`${rule};UNTIL=20260329T011500Z`)).toEqual([
      '2026-03-29T02:00',
      '2026-03-29T02:10',
      '2026-03-29T03:00',
      '2026-03-29T03:10',
    ])
    const { count: countWallTimes } = compileRrule(`${rule};UNTIL=20260329T011500Z`, context).wallTimes
    expect(countWallTimes!(0, Date.UTC(2027, 0, 1))).toBe(4)
  })

  it('UNTIL in a repeated hour includes all of its first occurrence', () => {
    const rule = 'DTSTART;TZID=Europe/Rome:20261025T020000\nRRULE:FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30'
    expect(wallTimes(`${rule};UNTIL=20261025T001500Z`)).toEqual(['2026-10-25T02:00'])
    expect(wallTimes(`${rule};UNTIL=20261025T011500Z`)).toEqual(['2026-10-25T02:00', '2026-10-25T02:30'])
    expect(wallTimes(`${rule};UNTIL=20261025T020000Z`)).toHaveLength(3)
  })

  it('EXDATE and RDATE in UTC or in another zone mean the same instant', () => {
    const text =
      'DTSTART;TZID=Europe/Rome:20260701T090000\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE:20260702T070000Z\nEXDATE;TZID=Asia/Tokyo:20260703T160000\nRDATE;TZID=America/New_York:20260710T090000'
    expect(wallTimes(text)).toEqual(['2026-07-01T09:00', '2026-07-04T09:00', '2026-07-10T15:00'])
  })

  it('EXDATE also removes a wall time that a gap shifts to it', () => {
    expect(
      wallTimes(
        'DTSTART;TZID=Europe/Rome:20260328T023000\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE:20260329T013000Z',
      ),
    ).toEqual(['2026-03-28T02:30', '2026-03-30T02:30'])
  })

  it('the zone of DTSTART overrides that of the context', () => {
    expect(wallTimes('DTSTART:20260701T090000Z\nRRULE:FREQ=DAILY;UNTIL=20260702T090000Z')).toEqual([
      '2026-07-01T09:00',
      '2026-07-02T09:00',
    ])
  })
})

describe('fixed intervals', () => {
  it.each([
    ['FREQ=HOURLY', HOUR, true],
    ['FREQ=MINUTELY;INTERVAL=15;COUNT=5', HOUR / 4, true],
    ['FREQ=SECONDLY;INTERVAL=30', 30_000, true],
    ['FREQ=HOURLY;BYMINUTE=0,30', null, true],
    ['FREQ=MINUTELY;BYDAY=MO', null, true],
    ['FREQ=MINUTELY;INTERVAL=15;BYHOUR=9', null, false],
    ['FREQ=DAILY', null, false],
    ['RDATE:20260701T090000', null, false],
  ])('%s', (text, everyMs, everyHour) => {
    expect(rruleInterval(parseRrule(text))).toBe(everyMs === null ? null : everyMs / 1000)
    expect(compileRrule(text, context).everyHour).toBe(everyHour)
  })

  it('keep their real spacing through clock changes, COUNT and UNTIL too', () => {
    expect(instants('DTSTART;TZID=Europe/Rome:20261025T010000\nRRULE:FREQ=HOURLY;COUNT=4')).toEqual([
      '2026-10-24T23:00',
      '2026-10-25T00:00',
      '2026-10-25T01:00',
      '2026-10-25T02:00',
    ])
    expect(
      instants('DTSTART;TZID=Europe/Rome:20260329T010000\nRRULE:FREQ=HOURLY;UNTIL=20260329T040000'),
    ).toEqual(['2026-03-29T00:00', '2026-03-29T01:00', '2026-03-29T02:00'])
    expect(
      instants('DTSTART;TZID=Europe/Rome:20261025T000000\nRRULE:FREQ=HOURLY;INTERVAL=12;UNTIL=20261025'),
    ).toEqual(['2026-10-24T22:00', '2026-10-25T10:00', '2026-10-25T22:00'])
  })

  it('apply RDATE and EXDATE as instants', () => {
    expect(
      instants(
        'DTSTART;TZID=Europe/Rome:20260701T090000\nRRULE:FREQ=HOURLY;COUNT=30\nEXDATE:20260701T080000Z\nEXDATE;VALUE=DATE:20260702\nRDATE:20260801T080000Z',
      ).filter((_, index) => index === 0 || index === 1),
    ).toEqual(['2026-07-01T07:00', '2026-07-01T09:00'])
    const { instants: found } = compileRrule(
      'DTSTART;TZID=Europe/Rome:20260701T090000\nRRULE:FREQ=SECONDLY;COUNT=200000\nEXDATE;VALUE=DATE:20260701\nEXDATE;VALUE=DATE:20260702',
      context,
    )
    expect(found!.next(0)).toBe(Date.parse('2026-07-03T00:00+02:00'))
  })

  it('count by arithmetic', () => {
    const { instants: found } = compileRrule('DTSTART:20200101T000000Z\nRRULE:FREQ=SECONDLY', context)
    expect(found!.count!(Date.parse('2025-01-01T00:00Z'), Date.parse('2026-01-01T00:00Z'))).toBe(365 * 86_400)
  })

  it('start one interval after their creation', () => {
    expect(compileRrule('FREQ=HOURLY;INTERVAL=2', context).instants!.next(0)).toBe(context.anchor + 2 * HOUR)
    expect(compileRrule('FREQ=HOURLY', { ...context, start: context.anchor }).instants!.next(0)).toBe(
      context.anchor,
    )
  })
})
