import { lateness, occurrenceId } from '../alarm/index.ts'
import { userIdOf } from '../seeds/index.ts'
import { formatInstant } from '../time/index.ts'
import type { Delivery } from './targets.ts'

/** The part of a delivery that its body describes. */
export type Wake = Pick<Delivery, 'alarm' | 'timer' | 'firedAt'>

const FIELDS = {
  alarm_id: ({ alarm }) => alarm.id,
  occurrence_id: ({ alarm, timer }) => occurrenceId(alarm, timer),
  scheduled_for: ({ timer }) => formatInstant(timer.scheduledFor),
  fired_at: ({ firedAt }) => formatInstant(firedAt),
  drift_ms: ({ alarm, timer, firedAt }) => lateness(alarm, timer, firedAt),
  attempt: ({ timer }) => timer.attempt + 1,
  label: ({ alarm }) => alarm.label,
  key: ({ alarm }) => alarm.key,
  owner: ({ alarm }) => alarm.owner,
  user_id: ({ alarm }) => userIdOf(alarm.owner),
  conversation_id: ({ alarm }) => alarm.conversationId,
  wake_message: ({ alarm }) => alarm.message,
  payload: null,
  correlation_id: ({ alarm }) => alarm.correlationId,
  subject: ({ alarm }) => alarm.subject,
} as const satisfies Record<string, ((wake: Wake) => string | number | null) | null>

/** A field of a wake's body. */
export type WakeField = keyof typeof FIELDS

/** The fields of a wake's body, in their order. */
export const WAKE_FIELDS = Object.keys(FIELDS) as readonly WakeField[]

/** One field of a wake's body as JSON text; the payload byte for byte (promise: verbatim). */
export function wakeFieldJson(wake: Wake, field: WakeField): string {
  const read = FIELDS[field]
  return read === null ? (wake.alarm.payload ?? 'null') : JSON.stringify(read(wake))
}

/** A wake's body as JSON text, the same for webhooks and the inbox. */
export function wakeJson(wake: Wake): string {
  let text = ''
  for (const field of WAKE_FIELDS)
    text += `${text === '' ? '{' : ','}"${field}":${wakeFieldJson(wake, field)}`
  return `${text}}`
}
