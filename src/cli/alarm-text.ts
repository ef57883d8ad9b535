import type { AlarmView } from '../alarm/index.ts'
import { describe } from '../time/index.ts'
import { parseVerbatim } from './json-text.ts'
import { type Column, card } from './table.ts'
import { oneLine } from './text-width.ts'
import { localTime, relativeTime, span } from './time-text.ts'

/** What times are shown against. */
export interface Viewpoint {
  readonly zone: string
  readonly now: () => number
}

const MESSAGE_SHOWN_MAX = 200

/** The columns of a list of alarms. */
export function listColumns(view: Viewpoint): Column<AlarmView>[] {
  return [
    ...leadColumns(view),
    { title: 'LABEL', value: titleOf, cutTo: 16, below: true },
    { title: 'RULE', value: ruleOf, cutTo: 14, below: true },
    { title: 'TARGET', value: targetOf, cutTo: 10, below: true },
  ]
}

/** The columns of a history: what came of each alarm. */
export function historyColumns(view: Viewpoint): Column<AlarmView>[] {
  return [
    ...leadColumns(view),
    {
      title: 'TOOK',
      value: ({ durationMs: ms }) => (ms === null ? '' : span(ms)),
      below: true,
      side: 'right',
    },
    { title: 'LABEL', value: titleOf, cutTo: 12, below: true },
    { title: 'TARGET', value: targetOf, cutTo: 10, below: true },
    {
      title: 'RESULT',
      value: (alarm) => shown(alarm.result ?? alarm.lastError),
      cutTo: 16,
      below: true,
    },
  ]
}

/** Which, how it stands, and since or until when: these fill a line of 80 columns. */
function leadColumns(view: Viewpoint): Column<AlarmView>[] {
  const at = (alarm: AlarmView) => alarm.nextFireAt ?? alarm.completedAt ?? alarm.lastFiredAt
  const when = (alarm: AlarmView, text: (date: Date) => string) => {
    const date = at(alarm)
    return date === null ? '' : text(date)
  }
  return [
    { title: 'ID', value: (alarm) => alarm.id },
    { title: 'STATUS', value: (alarm) => alarm.status },
    { title: 'WHEN', value: (alarm) => when(alarm, (date) => localTime(date, view.zone)) },
    { title: '', value: (alarm) => when(alarm, (date) => relativeTime(date, view.now())), below: true },
  ]
}

/** Everything there is to say of one alarm, a field to a line. The wire text gives the payload digit for digit. */
export function alarmCard(alarm: AlarmView, wire: string, view: Viewpoint): string[] {
  const at = (date: Date | null) =>
    date === null ? '' : `${localTime(date, view.zone)} (${relativeTime(date, view.now())})`
  return card([
    ['id', alarm.id],
    ['label', oneLine(alarm.label)],
    ['status', alarm.status],
    ['next fire', at(alarm.nextFireAt)],
    ['fire at', alarm.nextFireAt?.getTime() === alarm.fireAt?.getTime() ? '' : at(alarm.fireAt)],
    ['rule', alarm.kind === 'once' ? '' : describe(alarm.rule)],
    ['timezone', alarm.timezone],
    ['target', targetOf(alarm)],
    ['message', shortened(alarm.message)],
    ['payload', payloadOf(wire)],
    ['result', shown(alarm.result)],
    ['last error', shown(alarm.lastError)],
    ['failures', alarm.failureCount === 0 ? '' : `${alarm.failureCount} of at most ${alarm.maxFailures}`],
    ['started', at(alarm.startedAt)],
    ['completed', at(alarm.completedAt)],
    ['took', alarm.durationMs === null ? '' : span(alarm.durationMs)],
    ['last fired', at(alarm.lastFiredAt)],
    ['ack', alarm.ack === 'delivery' ? '' : `${alarm.ack}, overlap ${alarm.overlap}`],
    ['priority', alarm.priority === 0 ? '' : String(alarm.priority)],
    ['key', shown(alarm.key)],
    ['idempotency key', shown(alarm.idempotencyKey)],
    ['subject', shown(alarm.subject)],
    ['conversation', oneLine(alarm.conversationId)],
    ['correlation id', oneLine(alarm.correlationId)],
    ['created', `${at(alarm.createdAt)}${by(alarm)}`],
    ['updated', alarm.updatedAt.getTime() === alarm.createdAt.getTime() ? '' : at(alarm.updatedAt)],
    ['notes', alarm.notes.map(oneLine).join('\n')],
  ])
}

/** The words by which people know the alarm: its label, else its message, else its key. */
export function titleOf(alarm: AlarmView): string {
  return oneLine(alarm.label || alarm.message || alarm.key || '')
}

/** Where it goes, with the pool where that is an application's own. */
export function targetOf(alarm: AlarmView): string {
  return alarm.targetKind === 'handler'
    ? `${oneLine(alarm.target)}@${oneLine(alarm.pool)}`
    : oneLine(alarm.target)
}

/** The status with what happens next: `active, fires 2026-11-15 09:00:00 +01:00 (in 3h)`. */
export function standing(alarm: AlarmView, view: Viewpoint): string {
  if (alarm.nextFireAt === null) return alarm.status
  const at = alarm.nextFireAt
  return `${alarm.status}, fires ${localTime(at, view.zone)} (${relativeTime(at, view.now())})`
}

function shown(text: string | null): string {
  return text === null ? '' : oneLine(text)
}

function ruleOf({ rule }: AlarmView): string {
  if (rule.kind === 'once') return ''
  return rule.kind === 'cron' ? oneLine(rule.cron) : `every ${oneLine(rule.every)}`
}

function by(alarm: AlarmView): string {
  return ` via ${oneLine(alarm.createdVia)}${alarm.createdBy === null ? '' : ` by ${oneLine(alarm.createdBy)}`}`
}

function shortened(message: string): string {
  const text = oneLine(message)
  return text.length > MESSAGE_SHOWN_MAX
    ? `${text.slice(0, MESSAGE_SHOWN_MAX)}… (${message.length} characters)`
    : text
}

function payloadOf(wire: string): string {
  const { payload } = parseVerbatim(wire) as { payload?: unknown }
  return payload === undefined ? '' : oneLine(JSON.stringify(payload))
}
