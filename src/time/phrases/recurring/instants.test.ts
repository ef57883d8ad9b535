import { describe, expect, it } from 'vitest'
import { scheduleOf } from '../../rules/index.ts'
import { resolveWhen } from '../../when/index.ts'
import { formatLocal } from '../../zones/index.ts'
import { parseRecurring } from './recurring-phrase.ts'

/** The first five instants of a phrase in local time, with their offsets. */
function firstFive(text: string, from: string, timezone: string): string[] {
  const now = Date.parse(from)
  const { canonical: _wording, notes: _notes, ...when } = parseRecurring(text, { now, timezone })!
  const { rule, first } = resolveWhen(when, { now, timezone })
  const schedule = scheduleOf(rule)
  const instants: number[] = []
  for (let at: number | null = first; at !== null && instants.length < 5; at = schedule.next(at))
    instants.push(at)
  return instants.map((at) =>
    formatLocal(at, timezone)
      .replace(/:00([+-].*)\[.*$/, '$1')
      .slice(5),
  )
}

/** Clocks in Rome go from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October 2026. */
describe('recurring phrases over a clock change', () => {
  it.each([
    [
      'every weekday at 9am',
      '2026-03-26T12:00Z',
      '03-27T09:00+01:00 03-30T09:00+02:00 03-31T09:00+02:00 04-01T09:00+02:00 04-02T09:00+02:00',
    ],
    [
      'every day at 2:30am',
      '2026-03-27T12:00Z',
      '03-28T02:30+01:00 03-29T03:30+02:00 03-30T02:30+02:00 03-31T02:30+02:00 04-01T02:30+02:00',
    ],
    [
      'every day at 2:30am',
      '2026-10-23T12:00Z',
      '10-24T02:30+02:00 10-25T02:30+02:00 10-26T02:30+01:00 10-27T02:30+01:00 10-28T02:30+01:00',
    ],
    [
      'every 2 hours',
      '2026-03-28T22:00Z',
      '03-29T01:00+01:00 03-29T04:00+02:00 03-29T06:00+02:00 03-29T08:00+02:00 03-29T10:00+02:00',
    ],
    [
      'every hour on the hour',
      '2026-10-24T23:30Z',
      '10-25T02:00+02:00 10-25T02:00+01:00 10-25T03:00+01:00 10-25T04:00+01:00 10-25T05:00+01:00',
    ],
    [
      'every 15 minutes between 9 and 17',
      '2026-03-28T15:20Z',
      '03-28T16:30+01:00 03-28T16:45+01:00 03-29T09:00+02:00 03-29T09:15+02:00 03-29T09:30+02:00',
    ],
    [
      'weekends at 10am',
      '2026-03-27T12:00Z',
      '03-28T10:00+01:00 03-29T10:00+02:00 04-04T10:00+02:00 04-05T10:00+02:00 04-11T10:00+02:00',
    ],
    [
      'first monday of each month at 10:00',
      '2026-02-15T12:00Z',
      '03-02T10:00+01:00 04-06T10:00+02:00 05-04T10:00+02:00 06-01T10:00+02:00 07-06T10:00+02:00',
    ],
    [
      'last friday of the month at 17:00',
      '2026-03-26T12:00Z',
      '03-27T17:00+01:00 04-24T17:00+02:00 05-29T17:00+02:00 06-26T17:00+02:00 07-31T17:00+02:00',
    ],
    [
      'on the 1st and 15th of every month at 9am',
      '2026-03-14T12:00Z',
      '03-15T09:00+01:00 04-01T09:00+02:00 04-15T09:00+02:00 05-01T09:00+02:00 05-15T09:00+02:00',
    ],
    [
      'last day of the month at 23:00',
      '2026-02-10T12:00Z',
      '02-28T23:00+01:00 03-31T23:00+02:00 04-30T23:00+02:00 05-31T23:00+02:00 06-30T23:00+02:00',
    ],
    [
      'every month on the 31st at 9am',
      '2026-01-31T12:00Z',
      '03-31T09:00+02:00 05-31T09:00+02:00 07-31T09:00+02:00 08-31T09:00+02:00 10-31T09:00+01:00',
    ],
    [
      'last weekday of the month at 17:00',
      '2026-01-30T18:00Z',
      '02-27T17:00+01:00 03-31T17:00+02:00 04-30T17:00+02:00 05-29T17:00+02:00 06-30T17:00+02:00',
    ],
    ['every weekday at 9am until 2026-03-30', '2026-03-26T12:00Z', '03-27T09:00+01:00 03-30T09:00+02:00'],
    [
      'mondays at 8am starting 2026-12-01',
      '2026-03-26T12:00Z',
      '12-07T08:00+01:00 12-14T08:00+01:00 12-21T08:00+01:00 12-28T08:00+01:00 01-04T08:00+01:00',
    ],
  ])('%s, from %s in Rome', (text, from, wallTimes) => {
    expect(firstFive(text, from, 'Europe/Rome')).toEqual(wallTimes.split(' '))
  })

  it('follow their zone', () => {
    expect(firstFive('every day at 2:30am', '2026-03-07T12:00Z', 'America/New_York').slice(0, 2)).toEqual([
      '03-08T03:30-04:00',
      '03-09T02:30-04:00',
    ])
  })
})

describe('recurring phrases with an interval of several units, over a clock change', () => {
  it.each([
    [
      'every other tuesday at 9am',
      '03-10T09:00+01:00 03-24T09:00+01:00 04-07T09:00+02:00 04-21T09:00+02:00 05-05T09:00+02:00',
    ],
    [
      'every 5 days at 2:30am starting 2026-03-24',
      '03-24T02:30+01:00 03-29T03:30+02:00 04-03T02:30+02:00 04-08T02:30+02:00 04-13T02:30+02:00',
    ],
    [
      'every 2 weeks on friday at 16:00',
      '03-06T16:00+01:00 03-20T16:00+01:00 04-03T16:00+02:00 04-17T16:00+02:00 05-01T16:00+02:00',
    ],
    [
      'every other tuesday and thursday at 9am',
      '03-05T09:00+01:00 03-17T09:00+01:00 03-19T09:00+01:00 03-31T09:00+02:00 04-02T09:00+02:00',
    ],
    [
      'every other tuesday at 9am starting 2025-01-01',
      '03-17T09:00+01:00 03-31T09:00+02:00 04-14T09:00+02:00 04-28T09:00+02:00 05-12T09:00+02:00',
    ],
    [
      'every 2 months on the 31st at 9am',
      '03-31T09:00+02:00 05-31T09:00+02:00 07-31T09:00+02:00 01-31T09:00+01:00 03-31T09:00+02:00',
    ],
    [
      'last day of every 2 months at 9am',
      '03-31T09:00+02:00 05-31T09:00+02:00 07-31T09:00+02:00 09-30T09:00+02:00 11-30T09:00+01:00',
    ],
    [
      'first monday of every 3 months at 9am',
      '04-06T09:00+02:00 07-06T09:00+02:00 10-05T09:00+02:00 01-04T09:00+01:00 04-05T09:00+02:00',
    ],
    [
      'last weekday of every 2 months at 17:00',
      '03-31T17:00+02:00 05-29T17:00+02:00 07-31T17:00+02:00 09-30T17:00+02:00 11-30T17:00+01:00',
    ],
    [
      'every 2 weeks on monday at 9am and 5pm',
      '03-09T09:00+01:00 03-09T17:00+01:00 03-23T09:00+01:00 03-23T17:00+01:00 04-06T09:00+02:00',
    ],
    [
      'every 2 years on december 24 at 18:00',
      '12-24T18:00+01:00 12-24T18:00+01:00 12-24T18:00+01:00 12-24T18:00+01:00 12-24T18:00+01:00',
    ],
  ])('%s', (text, wallTimes) => {
    expect(firstFive(text, '2026-03-04T09:30:15.123Z', 'Europe/Rome')).toEqual(wallTimes.split(' '))
  })
})
