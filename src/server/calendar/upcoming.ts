import type { AlarmView } from '../../alarm/index.ts'
import type { Alarms } from '../../library/index.ts'
import { daysOffOf, type HolidayCalendar, standingAfter } from '../../time/index.ts'
import { type CalendarEntry, icsText } from './ics-text.ts'

const AHEAD_MS = 31 * 86_400_000
const ALARMS_MAX = 1_000
const PAGE = 500
/** What fires more often than this is no appointment of anybody's: a calendar shows the first of them. */
const PER_ALARM_MAX = 100
const ENTRIES_MAX = 5_000

/** An owner's alarms of the next month as a calendar, the next first. */
export async function upcomingIcs(
  alarms: Alarms,
  calendars: readonly HolidayCalendar[],
  now: number,
): Promise<string> {
  const entries: CalendarEntry[] = []
  for (const alarm of await soonest(alarms)) {
    for (const at of instantsOf(calendars, alarm, now + AHEAD_MS)) entries.push(entryOf(alarm, at))
    if (entries.length >= ENTRIES_MAX) break
  }
  return icsText('Wakeful', entries.slice(0, ENTRIES_MAX))
}

async function soonest(alarms: Alarms): Promise<AlarmView[]> {
  const found: AlarmView[] = []
  let cursor: string | null | undefined
  while (cursor !== null && found.length < ALARMS_MAX) {
    const page = await alarms.list({
      status: 'active',
      order: 'due',
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...page.items)
    cursor = page.nextCursor
  }
  return found
}

/** Its next instants: the one it waits for, and what its rule says of the time after. */
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
  let standing = standingAfter(rule, off, instants[0]!)
  while (standing !== null && standing.at <= until && instants.length < PER_ALARM_MAX) {
    instants.push(standing.at)
    standing = standingAfter(rule, off, standing.nominal)
  }
  return instants
}

function entryOf({ id, label, message, key, target, updatedAt }: AlarmView, at: number): CalendarEntry {
  const summary = [label, message, key ?? '', target].find((text) => text !== '') ?? 'alarm'
  return {
    uid: `${id}-${at}@wakeful`,
    at,
    changedAt: updatedAt.getTime(),
    summary: summary.length > 200 ? `${summary.slice(0, 199)}…` : summary,
    description: message === summary ? '' : message.slice(0, 2_000),
  }
}
