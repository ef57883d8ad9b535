import type { When } from '../src/time/index.ts'

/** A when, and the zone it is read in. */
export interface Given {
  readonly when: When
  readonly timezone: string
}

const ZONES = [
  'UTC',
  'Europe/Rome',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Sydney',
  'America/Sao_Paulo',
] as const

/** The round is a part of each rule, so that none was compiled before. */
function several(
  round: number,
  count: number,
  make: (index: number, clock: { hour: number; minute: number; second: number }, zone: string) => When,
): Given[] {
  return Array.from({ length: count }, (_, index) => {
    const clock = { hour: (index * 7) % 24, minute: (index * 13) % 60, second: round % 60 }
    const timezone = ZONES[index % ZONES.length]!
    return { when: make(index, clock, timezone), timezone }
  })
}

const two = (value: number) => String(value).padStart(2, '0')

/** Daily, on weekdays, on days of the month, on the last one, and every few minutes. */
export function cronTexts(round: number, count: number): Given[] {
  const days = ['* * *', '* * 1-5', '1,15,31 * *', 'L * *', '* * 5#2']
  return several(round, count, (index, { hour, minute, second }) =>
    index % 6 === 5
      ? { cron: `${second} ${minute % 5}-59/5 * * * *` }
      : { cron: `${second} ${minute} ${hour} ${days[index % days.length]}` },
  )
}

/** The same kinds of days as RFC 5545 says them, each with its DTSTART. */
export function rruleTexts(round: number, count: number): Given[] {
  const often = [
    'FREQ=DAILY',
    'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',
    'FREQ=MONTHLY;BYMONTHDAY=1,15,31',
    'FREQ=MONTHLY;BYMONTHDAY=-1',
    'FREQ=MONTHLY;BYDAY=2FR',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU',
  ]
  return several(round, count, (index, { hour, minute, second }, zone) => ({
    rrule: `DTSTART;TZID=${zone}:20300101T${two(hour)}${two(minute)}${two(second)}\nRRULE:${often[index % often.length]}`,
  }))
}

/** Recurring phrases, which become cron or RRULE. */
export function phraseTexts(round: number, count: number): Given[] {
  const often = [
    'every day',
    'every weekday',
    'first monday of each month',
    'every other tuesday',
    'every month on the 31st',
  ]
  return several(
    round,
    count,
    (index, { hour, minute, second }) =>
      `${often[index % often.length]} at ${two(hour)}:${two(minute)}:${two(second)}`,
  )
}

/** Fixed steps and steps on the calendar. */
export function everyTexts(round: number, count: number): Given[] {
  return several(round, count, (index, { hour, minute, second }) =>
    index % 3 === 0 ? { every: `${1 + (index % 20)} months` } : { every: `${1 + hour}h${minute}m${second}s` },
  )
}
