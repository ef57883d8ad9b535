import { assertText, type Context, type Limits, RawJson } from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import type { UserEvent } from '../stores/index.ts'
import type { OwnEventGiven } from './api.ts'
import { checked } from './options.ts'

const OWN_EVENT = { type: true, subject: true, correlationId: true, data: true } as const
const TYPE = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)*$/i
/** What Wakeful itself writes begins with these: a reader must be able to tell its records from a caller's. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'alarm',
  'schedule',
  'timer',
  'watch',
  'condition',
  'run',
  'wakeful',
])

/** Reads an event that a caller wants in the log. */
export function ownEvent(event: OwnEventGiven, { now, newId }: Context, limits: Limits): UserEvent {
  const { type, subject, correlationId, data } = checked<OwnEventGiven>('append', event, OWN_EVENT)
  const name = (field: string, value: string | undefined) =>
    value === undefined ? null : assertText(field, value, limits.nameBytesMax)
  return {
    id: newId(),
    type: ownType(assertText('type', type, limits.nameBytesMax)),
    at: now,
    subject: name('subject', subject),
    correlationId: name('correlationId', correlationId),
    data: dataText(data, limits),
  }
}

function ownType(type: string): string {
  if (!TYPE.test(type))
    throw new WakefulError('event.type_malformed', { value: display(type) }, { field: 'type' })
  const own = wakefulPrefix(type)
  if (own !== null) throw new WakefulError('event.type_reserved', { prefix: own })
  return type
}

/** What a type begins with, if only Wakeful itself writes such types. */
export function wakefulPrefix(type: string): string | null {
  const [first] = type.toLowerCase().split('.')
  return RESERVED.has(first!) ? first! : null
}

function dataText(data: unknown, { payloadBytesMax }: Limits): string {
  const text = data instanceof RawJson ? data.text : (JSON.stringify(data ?? {}) ?? '')
  if (!/^\s*\{/.test(text))
    throw new WakefulError('field.malformed', { expected: 'an object' }, { field: 'data' })
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= payloadBytesMax) return text
  throw new WakefulError('payload.too_large', { bytes, max: payloadBytesMax }, { field: 'data' })
}
