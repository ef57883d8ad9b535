import type { AlarmView } from '../../alarm/index.ts'
import type { OperationName } from '../../contracts/index.ts'
import type { Alarms, Operator } from '../../library/index.ts'
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
import type { CallsOf } from './call.ts'
import { type CalendarEntry, entryTexts, icsText } from './ics-text.ts'

const AHEAD_MS = 31 * 86_400_000
const ALARMS_MAX = 1_000
const PAGE = 500
/** Entries per alarm: an alarm that fires more often is not an appointment. */
const PER_ALARM_MAX = 100
const ENTRIES_MAX = 5_000
const BYTES_MAX = 2 * 2 ** 20
const TEXT_MAX = 200
const ALARMS_PER_TURN = 10

/** The calls about the calendar of upcoming alarms. */
export function calendarCalls(feeds: CalendarFeeds, operator: Operator) {
  return {
    calendar: async (_input, { caller }) => {
      const calendars = operator.calendarsOf(caller.tenant)
      const body = await upcomingIcs(caller.alarms, calendars, operator.clock)
      return { status: 200, json: body, type: 'text/calendar; charset=utf-8' }
    },

    createCalendar: async (_input, { caller }) => {
      const token = await feeds.create(caller)
      return { status: 201, json: JSON.stringify({ path: `/v1/calendar.ics?token=${token}` }) }
    },

    removeCalendar: async (_input, { caller }) => {
      return { status: 200, json: JSON.stringify({ removed: await feeds.removeAll(caller) }) }
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
  for await (const alarm of soonest(alarms)) {
    for (const text of entryTexts(entryOf(alarm), instantsOf(calendars, alarm, until))) {
      bytes += Buffer.byteLength(text)
      if (entries.length >= ENTRIES_MAX || bytes > BYTES_MAX) return icsText('Wakeful', entries)
      entries.push(text)
    }
    await yielder.afterItem()
  }
  return icsText('Wakeful', entries)
}

async function* soonest(alarms: Alarms): AsyncGenerator<AlarmView> {
  let found = 0
  let cursor: string | null | undefined
  while (cursor !== null && found < ALARMS_MAX) {
    const page = await alarms.list({
      status: 'active',
      order: 'due',
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    yield* page.items
    found += page.items.length
    cursor = page.nextCursor
  }
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

function entryOf({ id, label, message, key, target, updatedAt }: AlarmView): CalendarEntry {
  const summary = [label, message, key ?? '', target].find((text) => text !== '') ?? 'alarm'
  return {
    id,
    changedAt: updatedAt.getTime(),
    summary: shortened(summary),
    description: message === summary ? '' : shortened(message),
  }
}

function shortened(text: string): string {
  if (text.length <= TEXT_MAX) return text
  // Not between the two halves of a surrogate pair.
  return `${text.slice(0, TEXT_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
