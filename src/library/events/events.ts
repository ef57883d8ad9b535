import {
  assertText,
  type Context,
  checked,
  type Limits,
  RawJson,
  readPayload,
  utf8Length,
} from '../../alarm/index.ts'
import { display, WakefulError } from '../../error.ts'
import { encodeCursor } from '../../log/index.ts'
import type { LogEvent, UserEvent } from '../../stores/index.ts'
import type { EventView, OwnEventInput } from './api.ts'

const USER_EVENT = { type: true, subject: true, correlationId: true, data: true } as const
const TYPE = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)*$/i
/** The types of Wakeful's own events begin with these, so that a reader can tell them from a caller's. */
const RESERVED = ['admin', 'alarm', 'schedule', 'timer', 'watch', 'condition', 'run', 'wakeful']

/** Validates an event that a caller appends. */
export function userEvent(event: OwnEventInput, { now, newId }: Context, limits: Limits): UserEvent {
  const { type, subject, correlationId, data } = checked<OwnEventInput>('append', event, USER_EVENT)
  const name = (field: string, value: string | undefined) =>
    value === undefined ? null : assertText(field, value, limits.nameBytesMax)
  return {
    id: newId(),
    type: userType(assertText('type', type, limits.nameBytesMax)),
    at: now,
    subject: name('subject', subject),
    correlationId: name('correlationId', correlationId),
    data: dataText(data, limits),
  }
}

function userType(type: string): string {
  const expected = 'a dotted name such as order.paid'
  if (!TYPE.test(type))
    throw new WakefulError('field.invalid', { expected, value: display(type) }, { field: 'type' })
  const own = wakefulPrefix(type)
  if (own !== null) throw new WakefulError('event.type_reserved', { prefix: own }, { field: 'type' })
  return type
}

/** The reserved prefix of a type; null if callers may use it. */
export function wakefulPrefix(type: string): string | null {
  const [first] = type.toLowerCase().split('.')
  return RESERVED.includes(first!) ? first! : null
}

function dataText(data: unknown, { payloadBytesMax }: Limits): string {
  const text = data instanceof RawJson ? data.text : (JSON.stringify(data ?? {}) ?? '')
  if (!/^\s*\{/.test(text))
    throw new WakefulError('field.malformed', { expected: 'an object' }, { field: 'data' })
  const bytes = utf8Length(text)
  if (bytes <= payloadBytesMax) return text
  throw new WakefulError('payload.too_large', { bytes, max: payloadBytesMax }, { field: 'data' })
}

/** A row of the log as users see it; with its owner for readers of more than one. */
export function eventView(event: LogEvent, hasOwner = false): EventView {
  const { id, tenant, type, origin, alarmId, occurrenceId, key, subject, correlationId } = event
  const data = eventData(event.data)
  const cursor = encodeCursor('events', [event.seq])
  return {
    id,
    cursor,
    tenant,
    ...(hasOwner && { owner: event.owner }),
    type,
    origin,
    alarmId,
    occurrenceId,
    key,
    subject,
    correlationId,
    at: new Date(event.at),
    data,
    dataJson: event.data,
  }
}

/** An event's data; damaged data is returned as text, so that readers can go on after it. */
export function eventData(text: string): Record<string, unknown> {
  const data = readPayload(text)
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : { damaged: text }
}
