import { type AlarmView, utf8Length } from '../../alarm/index.ts'
import type { OperationName } from '../../contracts/index.ts'
import { type Alarms, type Operator, pagesOf } from '../../library/index.ts'
import {
  type Clock,
  daysOffOf,
  followingOccurrence,
  type HolidayCalendar,
  isOnDayOff,
  occurrenceAfter,
  Yielder,
} from '../../time/index.ts'
import type { CalendarFeeds } from '../auth/index.ts'
import { type CallsOf, ok } from './call.ts'

const AHEAD_MS = 31 * 86_400_000
const ALARMS_MAX = 1_000
/** Entries per alarm: an alarm that fires more often is not an appointment. */
const PER_ALARM_MAX = 100
const ENTRIES_MAX = 5_000
const BYTES_MAX = 2 * 2 ** 20
const TEXT_MAX = 200
const ALARMS_PER_TURN = 10
const LINE_OCTETS_MAX = 75

/** The calls about the calendar feed of upcoming alarms; those about calendars of days off are in `calendars.ts`. */
export function calendarFeedCalls(feeds: CalendarFeeds, operator: Operator) {
  return {
    getCalendarFeed: async (_input, { caller }) => {
      const calendars = operator.calendarsOf(caller.tenant)
      const body = await upcomingIcs(caller.alarms, calendars, operator.clock)
      return { status: 200, json: body, type: 'text/calendar; charset=utf-8' }
    },

    createCalendarFeed: async (_input, { caller }) => {
      const token = await feeds.create(caller)
      return { status: 201, json: JSON.stringify({ path: `/v1/calendar.ics?token=${token}` }) }
    },

    removeCalendarFeed: async (_input, { caller }) => {
      return ok(JSON.stringify({ removed: await feeds.removeAll(caller) }))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

/** An owner's alarms of the next month as a calendar, the next ones first, up to its limits. */
async function upcomingIcs(
  alarms: Alarms,
  calendars: readonly HolidayCalendar[],
  clock: Clock,
): Promise<string> {
  const until = clock.now() + AHEAD_MS
  const yielder = new Yielder(clock, ALARMS_PER_TURN)
  const entries: string[] = []
  let bytes = 0
  for await (const { items } of pagesOf(alarms, { status: 'active', order: 'due' }, ALARMS_MAX)) {
    for (const alarm of items) {
      for (const text of entryTexts(alarm, instantsOf(calendars, alarm, until))) {
        bytes += Buffer.byteLength(text)
        if (entries.length >= ENTRIES_MAX || bytes > BYTES_MAX) return icsText(entries)
        entries.push(text)
      }
      await yielder.afterItem()
    }
  }
  return icsText(entries)
}

/** Its next instants: the one it waits for, and those of its rule after that. */
function instantsOf(
  calendars: readonly HolidayCalendar[],
  { rule, nextFireAt }: AlarmView,
  until: number,
): number[] {
  if (nextFireAt === null || nextFireAt.getTime() > until) return []
  const instants = [nextFireAt.getTime()]
  if (rule.kind === 'once') return instants
  const find = (name: string) => calendars.find((calendar) => calendar.name === name)
  const off = rule.exclude === undefined ? null : daysOffOf(rule.exclude, find)
  let next = occurrenceAfter(rule, off, instants[0]!)
  while (next !== null && next.at <= until && instants.length < PER_ALARM_MAX) {
    // A rule whose remaining instants are all skipped ends at its last one, on a day off.
    if (rule.exclude?.move === undefined && isOnDayOff(rule, off, next.at)) break
    instants.push(next.at)
    next = followingOccurrence(rule, off, next)
  }
  return instants
}

function shortened(text: string): string {
  if (text.length <= TEXT_MAX) return text
  // Not between the two halves of a surrogate pair.
  return `${text.slice(0, TEXT_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** A calendar (RFC 5545) of these entries. */
function icsText(entries: readonly string[]): string {
  const head = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Wakeful//alarms//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'X-WR-CALNAME:Wakeful',
    'REFRESH-INTERVAL;VALUE=DURATION:PT15M',
    'X-PUBLISHED-TTL:PT15M',
  ]
  return `${lines(head)}${entries.join('')}END:VCALENDAR\r\n`
}

/** The entries of an alarm, one for each instant. */
function entryTexts(
  { id, label, message, key, target, updatedAt }: AlarmView,
  instants: readonly number[],
): string[] {
  const summary = [label, message, key ?? '', target].find((text) => text !== '') ?? 'alarm'
  const description = message === summary ? '' : shortened(message)
  const same = lines([
    `DTSTAMP:${stamp(updatedAt.getTime())}`,
    'DURATION:PT0S',
    'TRANSP:TRANSPARENT',
    `SUMMARY:${escaped(shortened(summary))}`,
    ...(description === '' ? [] : [`DESCRIPTION:${escaped(description)}`]),
    'END:VEVENT',
  ])
  return instants.map(
    (at) => lines(['BEGIN:VEVENT', `UID:${escaped(`${id}-${at}@wakeful`)}`, `DTSTART:${stamp(at)}`]) + same,
  )
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${folded(line)}\r\n`).join('')
}

/** Calendars have whole seconds: an instant is rounded up, so that it is never early. */
function stamp(at: number): string {
  const text = new Date(Math.ceil(at / 1000) * 1000).toISOString()
  return `${text.slice(0, 19).replace(/[-:]/g, '')}Z`
}

function escaped(text: string): string {
  return (
    text
      .replace(/[\\;,]/g, (sign) => `\\${sign}`)
      .replace(/\r\n|\r|\n/g, '\\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in a calendar.
      .replace(/[\u0000-\u001f\u007f]/g, ' ')
  )
}

/** Lines are folded after 75 octets, and never within a character. */
function folded(line: string): string {
  let [text, octets] = ['', 0]
  for (const character of line) {
    const size = utf8Length(character)
    const isFull = octets + size > LINE_OCTETS_MAX
    text += isFull ? `\r\n ${character}` : character
    octets = isFull ? 1 + size : octets + size
  }
  return text
}
