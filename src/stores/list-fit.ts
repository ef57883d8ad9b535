import { type Serial, type Snapshot, stateOf } from '../alarm/index.ts'
import type { ListQuery } from './store.ts'

/** Whether an alarm is one that the query asks for. */
export function fits(snapshot: Snapshot, query: ListQuery): boolean {
  const { alarm } = snapshot
  if (query.states !== undefined && !query.states.includes(stateOf(alarm, snapshot.timers, snapshot.outcome)))
    return false
  if (query.target !== undefined && alarm.target.name !== query.target) return false
  if (query.label !== undefined && alarm.label !== query.label) return false
  if (query.subject !== undefined && alarm.subject !== query.subject) return false
  if (query.correlationId !== undefined && alarm.correlationId !== query.correlationId) return false
  if (query.conversationId !== undefined && alarm.conversationId !== query.conversationId) return false
  if (query.since !== undefined && alarm.createdAt < query.since) return false
  return query.text === undefined || mentions(snapshot, query.text)
}

/** An alarm with several timers is listed at its earliest. */
export function wakesFirst(snapshot: Snapshot, timerId: Serial): boolean {
  const waking = snapshot.timers.filter((timer) => timer.wakeAt !== null)
  const first = waking.reduce((a, b) =>
    b.wakeAt! < a.wakeAt! || (b.wakeAt === a.wakeAt && b.id < a.id) ? b : a,
  )
  return first.id === timerId
}

function mentions({ alarm }: Snapshot, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/)
  const all = [alarm.label, alarm.message, alarm.key ?? '', alarm.subject ?? ''].join('\n').toLowerCase()
  return words.every((word) => all.includes(word))
}
