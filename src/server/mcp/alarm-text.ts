import type { z } from 'zod'
import type { operations } from '../../contracts/index.ts'
import { withoutUndefined } from '../../library/index.ts'
import { formatLocal, humanizeDuration } from '../../time/index.ts'
import { call, read, type ToolContext } from './tool.ts'

/** An alarm as it is on the wire. */
export type AlarmWire = z.output<(typeof operations)['get']['answers'][200]['schema']>

/** A preview as it is on the wire. */
export type PreviewWire = z.output<(typeof operations)['preview']['answers'][200]['schema']>

const INSTANTS_LISTED = 3
const NAME_LENGTH_MAX = 80

/** The rule of a recurring alarm in words, and the instants after its next one; null for a one-time alarm. */
async function ruleText(alarm: AlarmWire, work: ToolContext) {
  const { kind, cron_expr, rrule, every, timezone, when, next_fire_at } = alarm
  if (kind === 'once') return null
  const times = withoutUndefined({ cron_expr, rrule, every, timezone, from: next_fire_at })
  const body = { ...times, ...when, instants: INSTANTS_LISTED + 1 }
  try {
    const preview = read<PreviewWire>(await call(work, 'preview', { body }))
    // An interval counts from when it was set, which its text does not contain: its instants are unknown here.
    const isInterval = every !== undefined || cron_expr?.startsWith('@every') === true
    const later = isInterval ? [] : preview.instants.filter(({ instant }) => instant !== next_fire_at)
    return {
      words: preview.description,
      later: later.slice(0, INSTANTS_LISTED).map(({ instant }) => instant),
    }
  } catch {
    // A rule that cannot be described (its calendar is gone) is returned as it was set.
    return { words: cron_expr ?? rrule ?? `every ${every}`, later: [] }
  }
}

/** When it fires next, in its own zone and relative to now, or its status. */
export function statusText(alarm: AlarmWire, now: number): string {
  const { status, next_fire_at, failure_count, max_failures, last_error } = alarm
  const zone = alarm.timezone ?? 'UTC'
  if (next_fire_at === undefined) return endText(alarm, zone, now)
  const at = timeText(next_fire_at, zone, now)
  if (failure_count === 0) return `fires ${at}`
  return `${status}: try ${failure_count + 1} of ${max_failures} ${at}; the last failed: ${last_error ?? 'no reason given'}`
}

function endText(
  { status, last_fired_at, last_error, result, ack }: AlarmWire,
  zone: string,
  now: number,
): string {
  if (status === 'paused') return 'paused: it does not fire until it is resumed'
  const fired = last_fired_at === undefined ? '' : `, last fired ${timeText(last_fired_at, zone, now)}`
  if (status === 'fired' && ack === 'report') return `fired: its report is awaited (complete or fail)${fired}`
  const outcome = result ?? last_error
  return `${status}${outcome === undefined ? '' : ` (${short(outcome)})`}${fired}`
}

function targetText({ target }: AlarmWire): string {
  if (target === 'inbox') return 'to your inbox (tool `inbox`)'
  if (target === 'default') return 'to your default target'
  if (target === 'event') return 'to the event log'
  return `to ${short(target)}`
}

/** One alarm in a few lines: when it fires, its rule, the instants after, its target and notes. */
export async function alarmText(alarm: AlarmWire, work: ToolContext): Promise<string> {
  const zone = alarm.timezone ?? 'UTC'
  const rule = await ruleText(alarm, work)
  const lines = [
    `${alarm.id}${nameOf(alarm)}: ${statusText(alarm, work.now())}, ${targetText(alarm)}.`,
    ...(rule === null ? [] : [`Rule: ${rule.words}.`]),
    ...(rule === null || rule.later.length === 0
      ? []
      : [`Then: ${rule.later.map((instant) => wallTime(new Date(instant), zone)).join('; ')}.`]),
    ...(alarm.notes ?? []).map((note) => `Note: ${note}.`),
  ]
  return lines.join('\n')
}

/** One alarm on a line of a list. */
export async function alarmLine(alarm: AlarmWire, work: ToolContext): Promise<string> {
  const rule = await ruleText(alarm, work)
  const words = rule === null ? '' : `, ${rule.words}`
  return `- ${alarm.id}${nameOf(alarm)}: ${statusText(alarm, work.now())}${words}, ${targetText(alarm)}`
}

/** How an agent recognizes it: by its label, else its message, and its key. */
function nameOf({ label, wake_message, key }: AlarmWire): string {
  const name = label || wake_message
  return `${name === '' ? '' : ` ${JSON.stringify(short(name))}`}${key === undefined ? '' : ` (key ${JSON.stringify(short(key))})`}`
}

/** A user's text, shortened to fit on a line. */
export function short(text: string, max = NAME_LENGTH_MAX): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

/** The current time, which an agent needs to reason about times. */
export function nowText(now: number, zone: string): string {
  return `It is now ${wallTime(new Date(now), zone)}.`
}

/** An instant on the wall clock of a zone, with its weekday and the zone: `Tue 2026-11-17 09:00 Europe/Rome`. */
export function wallTime(at: Date, zone: string): string {
  const [date, time] = formatLocal(at.getTime(), zone).split('T') as [string, string]
  const weekday = new Date(date).toUTCString().slice(0, 3)
  return `${weekday} ${date} ${time.slice(0, 8).replace(/:00$/, '')} ${zone}`
}

/** An instant relative to now: `in 1d 11h`, `3m ago`, `now`. */
function distance(at: Date, now: number): string {
  const ms = at.getTime() - now
  if (Math.abs(ms) < 1000) return 'now'
  return ms > 0 ? `in ${humanizeDuration(ms)}` : `${humanizeDuration(-ms)} ago`
}

/** Both: `Tue 2026-11-17 09:00 Europe/Rome, in 1d 11h`. */
function timeText(instant: string, zone: string, now: number): string {
  const at = new Date(instant)
  return `${wallTime(at, zone)}, ${distance(at, now)}`
}
