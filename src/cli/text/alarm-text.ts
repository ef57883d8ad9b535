import { ALARM_FIELDS, type AlarmView, PLAIN_NAMES, wireJson } from '../../alarm/index.ts'
import { oneLineJson, withFields } from '../../library/index.ts'
import { describe, humanizeDuration, type Rule } from '../../time/index.ts'
import { type Column, card } from './table.ts'
import { count, oneLine } from './text-width.ts'
import { localTime, relativeTime, shortTime, timeFor } from './time-text.ts'

/** The zone and the current time that times are printed for. */
export interface Viewpoint {
  readonly zone: string
  readonly now: () => number
}

const MESSAGE_LENGTH_MAX = 200

/** The columns of a list of alarms: all of them, and fewer for narrower terminals. */
export function listColumns(view: Viewpoint): Column<AlarmView>[][] {
  const [id, status, ...times] = leadColumns(view) as [Column<AlarmView>, Column<AlarmView>]
  const short: Column<AlarmView> = {
    // Every row has the same zone, so its city in the title is enough.
    title: `WHEN (${view.zone.split('/').at(-1)?.replaceAll('_', ' ')})`,
    value: (alarm) => whenOf(alarm, (date) => shortTime(date, view.zone, view.now())),
  }
  const label = { title: 'LABEL', value: nameOf, cutTo: 16, below: true }
  const rule = { title: 'RULE', value: (alarm: AlarmView) => ruleOf(alarm, view), cutTo: 14, below: true }
  const target = { title: 'TARGET', value: targetOf, cutTo: 10, below: true }
  // Users copy ids, so they are never cut. At 80 columns that leaves space for one name.
  const name = { title: 'WHAT', value: (alarm: AlarmView) => nameOf(alarm) || targetOf(alarm), cutTo: 8 }
  return [
    [id, status, ...times, label, rule, target],
    [id, status, short, label, rule, target],
    [id, status, short, { ...name, below: true }],
  ]
}

/** The columns of a history: the outcome of each alarm. */
export function historyColumns(view: Viewpoint): Column<AlarmView>[] {
  return [
    ...leadColumns(view),
    { title: 'TOOK', value: tookText, below: true, side: 'right' },
    { title: 'LABEL', value: titleOf, cutTo: 12, below: true },
    { title: 'TARGET', value: targetOf, cutTo: 10, below: true },
    { title: 'RESULT', value: resultText, cutTo: 16, below: true },
  ]
}

/** Id, status and time, which fill a line of 80 columns. */
function leadColumns(view: Viewpoint): Column<AlarmView>[] {
  return [
    { title: 'ID', value: (alarm) => alarm.id },
    { title: 'STATUS', value: (alarm) => alarm.status },
    { title: 'WHEN', value: (alarm) => whenOf(alarm, (date) => localTime(date, view.zone)) },
    { title: '', value: (alarm) => whenOf(alarm, (date) => relativeTime(date, view.now())), below: true },
  ]
}

/** The next instant, or the last if there is none. */
function whenOf(alarm: AlarmView, text: (date: Date) => string): string {
  const { nextFireAt, completedAt, lastFiredAt, cancelledAt, startedAt } = alarm
  const at = nextFireAt ?? completedAt ?? lastFiredAt ?? cancelledAt ?? startedAt
  return at === null ? '' : text(at)
}

/** Texts that are part of another line. */
const ELSEWHERE: readonly string[] = ['label', 'message', 'createdBy', 'createdVia']
/** Texts with their own line. */
const NAMES = PLAIN_NAMES.filter((name) => {
  const field = ALARM_FIELDS[name]
  return field.type === 'text' && 'calls' in field && !ELSEWHERE.includes(name)
})

function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** All fields of one alarm, one per line. */
export function alarmCard(alarm: AlarmView, view: Viewpoint, width: number | null): string[] {
  const at = (date: Date | null) => (date === null ? '' : timeFor(date, view, view.zone))
  const own = (date: Date | null) => (date === null ? '' : timeFor(date, view, alarm.timezone))
  return card(
    [
      ['id', alarm.id],
      ['label', oneLine(alarm.label)],
      ['status', alarm.status],
      ['next fire', own(alarm.nextFireAt)],
      ['fire at', alarm.nextFireAt?.getTime() === alarm.fireAt?.getTime() ? '' : own(alarm.fireAt)],
      ['rule', alarm.kind === 'once' ? '' : ruleText(alarm.rule)],
      ['if missed', missedText(alarm)],
      ['timezone', alarm.timezone],
      ['target', targetOf(alarm)],
      ['message', shortened(alarm.message)],
      ['payload', alarm.payloadJson === null ? '' : oneLine(oneLineJson(alarm.payloadJson))],
      ['result', oneLine(alarm.result ?? '')],
      ['last error', oneLine(alarm.lastError ?? '')],
      [
        'failures',
        alarm.failureCount === 0 ? '' : `${count(alarm.failureCount)} of at most ${count(alarm.maxFailures)}`,
      ],
      ['started', at(alarm.startedAt)],
      ['completed', at(alarm.completedAt)],
      ['took', tookText(alarm)],
      ['last fired', at(alarm.lastFiredAt)],
      ['ack', alarm.ack === 'delivery' ? '' : `${alarm.ack}, overlap ${alarm.overlap}`],
      ['priority', alarm.priority === 0 ? '' : String(alarm.priority)],
      ...NAMES.map((name): [string, string] => [spaced(name), oneLine(String(alarm[name] ?? ''))]),
      ['created', `${at(alarm.createdAt)}${by(alarm)}`],
      ['cancelled', at(alarm.cancelledAt)],
      ['updated', alarm.updatedAt.getTime() === alarm.createdAt.getTime() ? '' : at(alarm.updatedAt)],
      ['notes', noteText(alarm.notes)],
    ],
    width,
  )
}

/** The rule in words, with durations in the style of the command line: `every 1m 30s`. */
export function ruleText(rule: Rule): string {
  return oneLine(describe(rule)).replace(/(\d(?:ms|[wdhms]))(?=\d)/g, '$1 ')
}

/** What happens to an alarm that is missed, if it is not what is usual. */
export function missedText({ rule }: AlarmView): string {
  return rule.kind === 'once' && rule.misfire === 'skip' ? 'it does not fire' : ''
}

/** Notes, one per line. */
export function noteText(notes: readonly string[]): string {
  return notes.map((note) => oneLine(note)).join('\n')
}

/** The title of an alarm: its label, else its message, else its key. */
export function titleOf(alarm: AlarmView): string {
  return oneLine(alarm.label || alarm.message || alarm.key || '')
}

/** The name of an alarm in a list: its label, else its message, with its key. */
function nameOf(alarm: AlarmView): string {
  const name = alarm.label || alarm.message
  if (alarm.key === null) return oneLine(name)
  return oneLine(
    name === '' ? alarm.key : alarm.label === '' ? `${alarm.key}: ${name}` : `${name} (${alarm.key})`,
  )
}

/** The target, with the pool of a handler. */
export function targetOf(alarm: AlarmView): string {
  return alarm.targetKind === 'handler'
    ? `${oneLine(alarm.target)}@${oneLine(alarm.pool)}`
    : oneLine(alarm.target)
}

/** The status with the next instant: `active, fires 2026-11-15 09:00:00 +01:00 (in 3h)`. */
export function statusText(alarm: AlarmView, view: Viewpoint): string {
  if (alarm.nextFireAt === null) return alarm.status
  const at = alarm.nextFireAt
  return `${alarm.status}, fires ${localTime(at, view.zone)} (${relativeTime(at, view.now())})`
}

/** The rule in words, without the zone of the list. */
function ruleOf({ rule }: AlarmView, { zone }: Viewpoint): string {
  return rule.kind === 'once' ? '' : ruleText(rule).replace(`, in ${zone}`, '')
}

function tookText({ durationMs }: AlarmView): string {
  return durationMs === null ? '' : humanizeDuration(durationMs)
}

function resultText({ result, lastError }: AlarmView): string {
  return oneLine(result ?? lastError ?? '')
}

function by(alarm: AlarmView): string {
  return ` via ${oneLine(alarm.createdVia)}${alarm.createdBy === null ? '' : ` by ${oneLine(alarm.createdBy)}`}`
}

function shortened(message: string): string {
  const text = oneLine(message)
  return text.length > MESSAGE_LENGTH_MAX
    ? `${text.slice(0, MESSAGE_LENGTH_MAX)}… (${count(message.length)} characters)`
    : text
}

/** A page of alarms as JSON in the wire format, so that payloads stay byte for byte. */
export function wireItems(items: readonly AlarmView[], more: Readonly<Record<string, unknown>> = {}): string {
  return withFields(`{"items":[${items.map(wireJson).join(',')}]}`, more)
}
