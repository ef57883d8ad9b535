import { oneLineJson } from '../../library/index.ts'
import { userIdOf } from '../../seeds/index.ts'
import type { Fire } from '../../targets/index.ts'
import { humanizeDuration } from '../../time/index.ts'
import { localTime, oneLine, titleOf } from '../text/index.ts'

/** A fire on one line: time, message, payload, lateness and the id of the alarm. */
export function fireLine(fire: Fire, zone: string): string {
  const payload = payloadText(fire)
  const texts = [titleOf(fire.alarm), fire.alarm.label === '' ? '' : oneLine(fire.message)]
  const message = texts.filter((text) => text !== '').join(': ') || '(no message)'
  const late = fire.driftMs < 1 ? 'on time' : `${humanizeDuration(fire.driftMs)} late`
  const attempt = fire.attempt > 1 ? `, attempt ${fire.attempt}` : ''
  const data = payload === null ? '' : `  ${oneLine(payload)}`
  const facts = `(${late}${attempt}, ${fire.alarm.id})`
  return `${localTime(fire.firedAt, zone)}  fired: ${message}${data}  ${facts}`
}

/** A fire as JSON, in the shape of a webhook's body, with its payload byte for byte. */
export function fireJson(fire: Fire): string {
  const { alarm, occurrence } = fire
  const body = {
    type: 'fire',
    alarm_id: alarm.id,
    occurrence_id: occurrence.id,
    scheduled_for: occurrence.scheduledFor.toISOString(),
    fired_at: fire.firedAt.toISOString(),
    drift_ms: fire.driftMs,
    attempt: fire.attempt,
    label: alarm.label,
    key: alarm.key ?? undefined,
    owner: alarm.owner,
    user_id: userIdOf(alarm.owner),
    conversation_id: alarm.conversationId,
    wake_message: fire.message,
    correlation_id: alarm.correlationId,
    subject: alarm.subject ?? undefined,
  }
  const payload = payloadText(fire)
  const json = JSON.stringify(body)
  return payload === null ? json : `${json.slice(0, -1)},"payload":${payload}}`
}

/** The payload as JSON on one line; null if there is none. */
function payloadText({ payloadJson }: Fire): string | null {
  return payloadJson === null || payloadJson === '{}' ? null : oneLineJson(payloadJson)
}
