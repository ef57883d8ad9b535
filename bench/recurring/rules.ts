import type { WhenObject } from '../../src/time/index.ts'

/** When the alarms of the rules below are set. None of them fires within a minute of it. */
export const SET_AT = Date.parse('2030-01-15T12:00:01Z')
/** A day later each of them has come due exactly once: none of these zones changes its clocks in that month. */
export const DUE_AT = SET_AT + 86_400_000

const ZONES = [
  'UTC',
  'Europe/Rome',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Sydney',
  'America/Sao_Paulo',
] as const
const CRONS = 150
const RRULES = 100
const INTERVALS = 50

/** Three hundred rules: half of them cron in six zones, a third RRULE, with and without DTSTART, the rest `every`. */
export const RULES: readonly WhenObject[] = [
  ...Array.from({ length: CRONS }, (_, index) => cronOf(index)),
  ...Array.from({ length: RRULES }, (_, index) => rruleOf(index)),
  ...Array.from({ length: INTERVALS }, (_, index) => intervalOf(index)),
]

function timeOf(index: number): { hour: number; minute: number; timezone: string } {
  return { hour: (index * 7) % 24, minute: (index * 13) % 60, timezone: ZONES[index % ZONES.length]! }
}

/** Daily, on some weekdays, or on some days of the month. Both days between the set and the drain match all of them. */
function cronOf(index: number): WhenObject {
  const { hour, minute, timezone } = timeOf(index)
  const days = ['* * *', '* * 2-4', '15-17 * *', '* 1-6 *', '15-17 */2 *'][index % 5]
  return { cron: `${minute} ${hour} ${days}`, timezone }
}

function rruleOf(index: number): WhenObject {
  const { hour, minute, timezone } = timeOf(index)
  const frequencies = [
    'FREQ=DAILY',
    'FREQ=WEEKLY;BYDAY=TU,WE,TH',
    'FREQ=MONTHLY;BYMONTHDAY=15,16,17',
    'FREQ=YEARLY;BYMONTH=1',
  ]
  const frequency = frequencies[index % frequencies.length]!
  const day = frequency === 'FREQ=YEARLY;BYMONTH=1' ? ';BYDAY=TU,WE,TH' : ''
  const rule = `RRULE:${frequency}${day};BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=0`
  if (index % 2 === 0) return { rrule: rule, timezone }
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return { rrule: `DTSTART;TZID=${timezone}:20300101T${twoDigits(hour)}${twoDigits(minute)}00\n${rule}` }
}

/** Fixed and calendar intervals, each with a start within the day. */
function intervalOf(index: number): WhenObject {
  const start = new Date(SET_AT - 1000 + (1 + index * 27) * 60_000)
  return {
    every: ['1d', '36h', '1w', '1 month', '1 year'][index % 5]!,
    start,
    timezone: ZONES[index % ZONES.length]!,
  }
}
