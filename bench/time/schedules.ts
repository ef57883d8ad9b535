import type { When } from '../../src/time/index.ts'

/** A schedule as a user writes it, and the time zone it is read in. */
export interface Schedule<W extends When = When> {
  readonly when: W
  readonly timezone: string
}

interface TimeOfDay {
  readonly hour: number
  readonly minute: number
  readonly second: number
}

const ZONES = [
  'UTC',
  'Europe/Rome',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Sydney',
  'America/Sao_Paulo',
] as const

/** The round is part of each schedule (its second), so that no round meets one that is compiled already. */
function schedules<W extends When>(
  round: number,
  count: number,
  make: (index: number, time: TimeOfDay, zone: string) => W,
): Schedule<W>[] {
  return Array.from({ length: count }, (_, index) => {
    const time = { hour: (index * 7) % 24, minute: (index * 13) % 60, second: round % 60 }
    const timezone = ZONES[index % ZONES.length]!
    return { when: make(index, time, timezone), timezone }
  })
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Daily, on weekdays, on days of the month, on the last day, on the second Friday, and every few minutes. */
export function cronSchedules(round: number, count: number): Schedule<{ cron: string }>[] {
  const days = ['* * *', '* * 1-5', '1,15,31 * *', 'L * *', '* * 5#2']
  return schedules(round, count, (index, { hour, minute, second }) =>
    index % 6 === 5
      ? { cron: `${second} ${minute % 5}-59/5 * * * *` }
      : { cron: `${second} ${minute} ${hour} ${days[index % days.length]}` },
  )
}

/** The same kinds of days in RFC 5545, each with its DTSTART. */
export function rruleSchedules(round: number, count: number): Schedule<{ rrule: string }>[] {
  const frequencies = [
    'FREQ=DAILY',
    'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',
    'FREQ=MONTHLY;BYMONTHDAY=1,15,31',
    'FREQ=MONTHLY;BYMONTHDAY=-1',
    'FREQ=MONTHLY;BYDAY=2FR',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU',
  ]
  return schedules(round, count, (index, { hour, minute, second }, zone) => {
    const time = `${twoDigits(hour)}${twoDigits(minute)}${twoDigits(second)}`
    return {
      rrule: `DTSTART;TZID=${zone}:20300101T${time}\nRRULE:${frequencies[index % frequencies.length]}`,
    }
  })
}

/** Recurring phrases, which become cron or RRULE. */
export function phraseSchedules(round: number, count: number): Schedule[] {
  const phrases = [
    'every day',
    'every weekday',
    'first monday of each month',
    'every other tuesday',
    'every month on the 31st',
  ]
  return schedules(round, count, (index, { hour, minute, second }) => {
    const time = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second)}`
    return `${phrases[index % phrases.length]} at ${time}`
  })
}

/** Fixed intervals and calendar intervals. */
export function everySchedules(round: number, count: number): Schedule[] {
  return schedules(round, count, (index, { hour, minute, second }) =>
    index % 3 === 0 ? { every: `${1 + (index % 20)} months` } : { every: `${1 + hour}h${minute}m${second}s` },
  )
}
