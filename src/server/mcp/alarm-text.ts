import type { z } from 'zod'
import type { operations } from '../../contracts/index.ts'
import { timeText, wallTime } from './time-text.ts'
import { call, read, type ToolContext } from './tool.ts'

/** An alarm as it is on the wire. */
export type AlarmWire = z.output<(typeof operations)['get']['answers'][200]['schema']>

type PreviewWire = z.output<(typeof operations)['preview']['answers'][200]['schema']>

const INSTANTS_SHOWN = 3
const NAME_SHOWN_MAX = 80

/** A recurring alarm's rule in words, and the instants after its next one. */
interface RuleWords {
  readonly words: string
  readonly later: readonly string[]
}

/** What a recurring alarm's rule says, in words; null of a once alarm. */
async function ruleWords(alarm: AlarmWire, work: ToolContext): Promise<RuleWords | null> {
  const { kind, cron_expr, rrule, every, timezone, when, next_fire_at } = alarm
  if (kind === 'once') return null
  const body = {
    ...(cron_expr !== undefined && { cron_expr }),
    ...(rrule !== undefined && { rrule }),
    ...(every !== undefined && { every }),
    ...(timezone !== undefined && { timezone }),
    ...when,
    ...(next_fire_at !== undefined && { from: next_fire_at }),
    instants: INSTANTS_SHOWN + 1,
  }
  try {
    const preview = read<PreviewWire>(await call(work, 'preview', { body }))
    // An interval counts from when it was set, which its text does not say: its instants are not guessed.
    const isInterval = every !== undefined || cron_expr?.startsWith('@every') === true
    const later = isInterval ? [] : preview.instants.filter(({ instant }) => instant !== next_fire_at)
    return { words: preview.description, later: later.slice(0, INSTANTS_SHOWN).map(({ instant }) => instant) }
  } catch {
    // What cannot be put into words (a calendar that is gone) is told as it was given.
    return { words: cron_expr ?? rrule ?? `every ${every}`, later: [] }
  }
}

/** When it fires next, in its own zone and from now, or how it stands. */
export function statusText(alarm: AlarmWire, now: number): string {
  const { status, next_fire_at, failure_count, max_failures, last_error } = alarm
  const zone = alarm.timezone ?? 'UTC'
  if (next_fire_at === undefined) return endWords(alarm, zone, now)
  const at = timeText(next_fire_at, zone, now)
  if (failure_count === 0) return `fires ${at}`
  return `${status}: try ${failure_count + 1} of ${max_failures} ${at}; the last failed: ${last_error ?? 'no reason given'}`
}

function endWords(
  { status, last_fired_at, last_error, result, ack }: AlarmWire,
  zone: string,
  now: number,
): string {
  if (status === 'paused') return 'paused: it does not fire until it is resumed'
  const fired = last_fired_at === undefined ? '' : `, last fired ${timeText(last_fired_at, zone, now)}`
  if (status === 'fired' && ack === 'report') return `fired: its report is awaited (complete or fail)${fired}`
  const said = result ?? last_error
  return `${status}${said === undefined ? '' : ` (${short(said)})`}${fired}`
}

/** Where it goes, in words. */
function targetWords({ target }: AlarmWire): string {
  if (target === 'inbox') return 'to your inbox (tool `inbox`)'
  if (target === 'default') return 'to your default target'
  if (target === 'event') return 'to the event log'
  return `to ${short(target)}`
}

/** One alarm in some lines: when, the rule in words, what follows, where to, notes. */
export async function alarmText(alarm: AlarmWire, work: ToolContext): Promise<string> {
  const zone = alarm.timezone ?? 'UTC'
  const rule = await ruleWords(alarm, work)
  const lines = [
    `${alarm.id}${named(alarm)}: ${statusText(alarm, work.now())}, ${targetWords(alarm)}.`,
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
  const rule = await ruleWords(alarm, work)
  const words = rule === null ? '' : `, ${rule.words}`
  return `- ${alarm.id}${named(alarm)}: ${statusText(alarm, work.now())}${words}, ${targetWords(alarm)}`
}

/** By what an agent knows it again: its label, else its message, and its key. */
function named({ label, wake_message, key }: AlarmWire): string {
  const name = label || wake_message
  return `${name === '' ? '' : ` ${JSON.stringify(short(name))}`}${key === undefined ? '' : ` (key ${JSON.stringify(short(key))})`}`
}

/** A text that users wrote, cut to what a line has room for. */
export function short(text: string, max = NAME_SHOWN_MAX): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

/** The moment a tool was called, as an agent needs it to reason about times. */
export function nowText(now: number, zone: string): string {
  return `It is now ${wallTime(new Date(now), zone)}.`
}
