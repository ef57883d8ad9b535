import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { type DstPolicy, formatLocal, offsetPeriodAt, zoned } from '../zones/index.ts'
import { compileCron, parseCron } from './cron.ts'

const MINUTE = 60_000
const DAY = 86_400_000

/** Zones with odd clock changes, each with an instant close to one. */
const ODD: [zone: string, near: string][] = [
  ['Europe/Rome', '2026-03-29T01:00Z'],
  ['Europe/Rome', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00Z'],
  ['Asia/Gaza', '2026-03-28T00:00Z'],
  ['Africa/Monrovia', '1972-01-07T00:44:30Z'],
  ['Asia/Pyongyang', '2018-05-04T15:00Z'],
]

function wallTimes(fields: string, zone: string, from: string, count: number, policy?: DstPolicy): string[] {
  const { next } = compileCron(fields, zone, policy)
  const found: string[] = []
  let at: number | null = Date.parse(from)
  while (found.length < count) {
    at = next(at)
    if (at === null) break
    found.push(formatLocal(at, zone).slice(0, 22))
  }
  return found
}

/** The expected instants by brute force: every minute of every day. */
function expected(
  fields: { minutes: number[]; hours: number[] },
  zone: string,
  from: number,
  until: number,
): number[] {
  const found = new Set<number>()
  const matches = (minute: number, hour: number) =>
    fields.minutes.includes(minute) && fields.hours.includes(hour)
  const first = zoned(zone, from).toPlainDate().subtract({ days: 2 })
  const last = zoned(zone, until).toPlainDate()
  for (let date = first; Temporal.PlainDate.compare(date, last) <= 0; date = date.add({ days: 1 })) {
    for (let minute = 0; minute < 1440; minute++) {
      if (!matches(minute % 60, Math.floor(minute / 60))) continue
      const wall = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 })
      const at = wall.toZonedDateTime(zone, { disambiguation: 'compatible' })
      found.add(at.epochMilliseconds)
    }
  }
  return [...found].filter((at) => at > from && at <= until).sort((a, b) => a - b)
}

describe('calendar fields', () => {
  it.each([
    ['0 9 * * 1-5', '2026-03-06T09:00:00+01', '2026-03-09T09:00:00+01'],
    ['0 9 * * mon,WED', '2026-03-09T09:00:00+01', '2026-03-11T09:00:00+01'],
    ['30 15 10 * * *', '2026-03-06T10:15:30+01', '2026-03-07T10:15:30+01'],
    ['0 0 L * *', '2026-03-31T00:00:00+02', '2026-04-30T00:00:00+02'],
    ['0 0 15W * *', '2026-03-16T00:00:00+01', '2026-04-15T00:00:00+02'],
    ['0 0 * * 5#2', '2026-03-13T00:00:00+01', '2026-04-10T00:00:00+02'],
    ['0 0 * * 5L', '2026-03-27T00:00:00+01', '2026-04-24T00:00:00+02'],
    ['0 0 29 2 *', '2028-02-29T00:00:00+01', '2032-02-29T00:00:00+01'],
    ['@yearly', '2027-01-01T00:00:00+01', '2028-01-01T00:00:00+01'],
    ['@monthly', '2026-04-01T00:00:00+02', '2026-05-01T00:00:00+02'],
    ['@weekly', '2026-03-08T00:00:00+01', '2026-03-15T00:00:00+01'],
    ['@Daily', '2026-03-06T00:00:00+01', '2026-03-07T00:00:00+01'],
    ['@hourly', '2026-03-05T12:00:00+01', '2026-03-05T13:00:00+01'],
  ])('%s fires at the times of cron', (fields, first, second) => {
    expect(wallTimes(fields, 'Europe/Rome', '2026-03-05T10:30:00Z', 2)).toEqual([first, second])
  })

  it('fires on the day of the month or of the week if both are set', () => {
    expect(
      wallTimes('0 0 13 * 5', 'UTC', '2026-04-09T12:00:00Z', 3).map((wall) => wall.slice(0, 10)),
    ).toEqual(['2026-04-10', '2026-04-13', '2026-04-17'])
  })

  it.each(['0 0 30 2 *', '0 0 31 4,6 *'])('%s never fires, which is found at once', (fields) => {
    const start = cpuMs()
    expect(compileCron(fields, 'Europe/Rome').next(0)).toBeNull()
    expect(cpuMs() - start).toBeLessThan(500)
  })

  it.each([
    '60 * * * *',
    '* * * *',
    '0 24 * * *',
    '*/0 * * * *',
    '5-1 * * * *',
    'H * * * *',
    '* * W * *',
    '2026-01-01T00:00:00',
    '@reboot',
    '0 0 1 1 * * 2030',
    '',
  ])('refuses %j', (text) => {
    expect(() => compileCron(parseCron(text).fields, 'UTC')).toThrow(
      expect.objectContaining({ code: 'invalid_rule' }),
    )
  })

  it('parses the zone of CRON_TZ and the interval of @every', () => {
    expect(parseCron('CRON_TZ=asia/tokyo 0 9 * * *')).toEqual({ timezone: 'Asia/Tokyo', fields: '0 9 * * *' })
    expect(parseCron('@every 1h30m').everyMs).toBe(5_400_000)
    expect(() => parseCron('CRON_TZ=Mars/Base 0 9 * * *')).toThrow(
      expect.objectContaining({ code: 'invalid_timezone' }),
    )
    expect(() => parseCron('@every 10ms')).toThrow(expect.objectContaining({ code: 'invalid_rule' }))
  })
})

describe('clock changes', () => {
  it('shifts a time that does not exist by the length of the gap, in lists and steps too', () => {
    expect(wallTimes('30 2 * * *', 'Europe/Rome', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T03:30:00+02',
      '2026-03-30T02:30:00+02',
    ])
    expect(wallTimes('30 2,14 * * *', 'Europe/Rome', '2026-03-28T20:00:00Z', 2)).toEqual([
      '2026-03-29T03:30:00+02',
      '2026-03-29T14:30:00+02',
    ])
    expect(wallTimes('30 2-3 * * *', 'Europe/Rome', '2026-03-28T20:00:00Z', 2)).toEqual([
      '2026-03-29T03:30:00+02',
      '2026-03-30T02:30:00+02',
    ])
  })

  it('fires a time that occurs twice at the first', () => {
    expect(wallTimes('30 2 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T02:30:00+02',
      '2026-10-26T02:30:00+01',
    ])
  })

  it('does not shift times at the edges of a clock change', () => {
    expect(wallTimes('0 3 * * *', 'Europe/Rome', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T03:00:00+02',
      '2026-03-30T03:00:00+02',
    ])
    expect(wallTimes('0 3 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T03:00:00+01',
      '2026-10-26T03:00:00+01',
    ])
    expect(wallTimes('0 2 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T02:00:00+02',
      '2026-10-26T02:00:00+01',
    ])
  })

  it('skips, or fires at the last or at both, by policy', () => {
    const gap = { gap: 'skip', overlap: 'first' } as const
    expect(wallTimes('30 2 * * *', 'Europe/Rome', '2026-03-28T12:00:00Z', 1, gap)).toEqual([
      '2026-03-30T02:30:00+02',
    ])
    const last = { gap: 'shift', overlap: 'last' } as const
    expect(wallTimes('30 2 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 2, last)).toEqual([
      '2026-10-25T02:30:00+01',
      '2026-10-26T02:30:00+01',
    ])
    const both = { gap: 'shift', overlap: 'both' } as const
    expect(wallTimes('30 2,3 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 4, both)).toEqual([
      '2026-10-25T02:30:00+02',
      '2026-10-25T02:30:00+01',
      '2026-10-25T03:30:00+01',
      '2026-10-26T02:30:00+01',
    ])
  })

  it('agrees with a brute-force walk around odd clock changes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ODD),
        fc.uniqueArray(fc.oneof(fc.constantFrom(0, 30), fc.integer({ min: 0, max: 59 })), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -DAY, max: DAY }),
        ([zone, near], minutes, hours, shift) => {
          const from = Date.parse(near) + shift
          const until = from + 2 * DAY
          const { next } = compileCron(`${minutes.join()} ${hours.join()} * * *`, zone)
          const found: number[] = []
          for (let at = next(from); at !== null && at <= until; at = next(at)) found.push(at)
          expect(found).toEqual(expected({ minutes, hours }, zone, from, until))
        },
      ),
      { numRuns: 150 },
    )
  })

  it('always advances, from any millisecond near any clock change', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 2, max: Math.min(max, 12) }).map((step) => `*/${step}`),
      )
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)),
        fc.integer({ min: DAY, max: Date.parse('2037-01-01') }),
        fc.integer({ min: -2 * 3_600_000, max: 2 * 3_600_000 }),
        (zone, fields, somewhere, shift) => {
          const { next } = compileCron(fields.join(' '), zone)
          const { end } = offsetPeriodAt(zone, somewhere)
          let at = (Number.isFinite(end) ? end : somewhere) + shift
          for (let step = 0; step < 10; step++) {
            const following = next(at)
            if (following === null) return
            expect(following).toBeGreaterThan(at)
            expect(following % 1000).toBe(0)
            // Nothing is in between: a search from a moment earlier finds the same.
            expect(next(following - 1)).toBe(following)
            expect(next(at + Math.floor((following - at) / 2))).toBe(following)
            at = following
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('costs microseconds per instant', () => {
    const { next } = compileCron('*/5 * * * *', 'Europe/Rome')
    const start = cpuMs()
    let at: number | null = Date.parse('2026-01-01')
    for (let step = 0; step < 5000; step++) at = next(at!)
    expect(at).toBe(Date.parse('2026-01-01') + 5000 * 5 * MINUTE)
    expect((cpuMs() - start) / 5000).toBeLessThan(0.5)
  })
})

describe('intervals', () => {
  const spacings = (fields: string, zone: string, from: string, count: number) => {
    const { next } = compileCron(fields, zone)
    const found: number[] = []
    for (let at: number | null = Date.parse(from); found.length <= count; ) {
      at = next(at!)
      found.push(at!)
    }
    return found.slice(1).map((at, index) => (at - found[index]!) / MINUTE)
  }

  it.each([
    ['*/15 * * * *', 'Europe/Rome', 15],
    ['*/15 * * * *', 'Australia/Lord_Howe', 15],
    ['30 * * * *', 'Europe/Rome', 60],
    ['@hourly', 'Antarctica/Troll', 60],
    ['15 0 */2 * * *', 'Antarctica/Troll', 120],
  ])('%s keeps its spacing through every change of %s', (fields, zone, minutes) => {
    const count = Math.floor((400 * DAY) / MINUTE / minutes)
    expect([...new Set(spacings(fields, zone, '2026-01-01T00:00:00Z', count))]).toEqual([minutes])
  })

  it('keeps steps of hours in real hours until the next midnight, where they start over', () => {
    expect(wallTimes('0 */6 * * *', 'Europe/Rome', '2026-03-28T22:30:00Z', 5)).toEqual([
      '2026-03-29T00:00:00+01',
      '2026-03-29T07:00:00+02',
      '2026-03-29T13:00:00+02',
      '2026-03-29T19:00:00+02',
      '2026-03-30T00:00:00+02',
    ])
    expect(wallTimes('0 */6 * * *', 'Europe/Rome', '2026-10-24T21:30:00Z', 6)).toEqual([
      '2026-10-25T00:00:00+02',
      '2026-10-25T05:00:00+01',
      '2026-10-25T11:00:00+01',
      '2026-10-25T17:00:00+01',
      '2026-10-25T23:00:00+01',
      '2026-10-26T00:00:00+01',
    ])
  })

  it('starts over at a midnight that a clock change skipped', () => {
    expect(wallTimes('0 */12 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', 4)).toEqual([
      '2018-11-03T12:00:00-03',
      '2018-11-04T01:00:00-02',
      '2018-11-04T13:00:00-02',
      '2018-11-05T00:00:00-02',
    ])
  })

  it('is never spaced wider than its step, through any clock change', () => {
    for (const [zone, near] of ODD) {
      for (const step of [1, 2, 3, 5, 7, 12]) {
        const from = new Date(Date.parse(near) - 2 * DAY).toISOString()
        expect(Math.max(...spacings(`0 */${step} * * *`, zone, from, 60))).toBeLessThanOrEqual(step * 60)
      }
    }
  })

  it('treats a step of 24 as midnight', () => {
    expect(wallTimes('30 */24 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00+02',
      '2026-10-26T00:30:00+01',
    ])
  })
})
