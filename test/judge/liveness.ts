import { type Violation, violation } from './breach.ts'
import { type Facts, isDelivered } from './facts.ts'
import { type AskCall, type Chain, currentAsks, lastCallAt } from './model.ts'
import { countUpTo } from './sorted.ts'

/** Promise liveness: after the last fault, due deliveries begin soon, nothing stays pending, and nothing fails by itself. */
export function liveness(facts: Facts): Violation[] {
  const { evidence, chains, calmAt } = facts
  const found = evidence.pending.map((alarmId) =>
    violation('pending', `${alarmId} is still pending after the drain`),
  )
  for (const text of evidence.overdue ?? []) found.push(violation('late', text))
  for (const entry of evidence.entries)
    if (entry.type === 'error') found.push(violation('error', `run ${entry.run}: ${entry.text}`))
  for (const chain of chains) found.push(...delayedRetries(chain))
  found.push(...unpunctual(facts))
  if (calmAt !== null) for (const chain of chains) found.push(...late(chain, calmAt, facts))
  return found
}

/**
 * Deliveries that began late although nothing blocked them. Checked only if the current ask is known: no call was left
 * unanswered. An earlier occurrence of the same alarm may delay the next, so lateness counts from the alarm's last
 * activity. Recurring alarms that wait for reports are not checked.
 */
function late(chain: Chain, calmAt: number, facts: Facts): Violation[] {
  const [call, another] = currentAsks(chain)
  if (call === undefined || another !== undefined || chain.calls.some(isOpen)) return []
  const { ask } = call
  if (ask.ack === 'report' && ask.instants.length > 1) return []
  const began = ask.toLog ? recordedAt(chain) : call.delivered
  const from = Math.max(calmAt, lastCallAt(chain))
  let activity: number[] | null = null
  return ask.instants.flatMap((instant) => {
    const at = began.get(instant)
    const due = Math.max(from, instant + (ask.jitterMs ?? 0))
    if (at === undefined || at - due <= facts.promptMs) return []
    activity ??= activityOf(chain)
    const before = activity[countUpTo(activity, at - 1) - 1] ?? due
    const free = Math.max(due, before)
    if (at - free <= facts.promptMs || facts.full.some(free, at)) return []
    return [lateViolation(call, instant, at - due)]
  })
}

/** The smallest sample for the median. */
const PUNCTUAL_COUNT_MIN = 20

/** Whether the median delivery is late long after the last fault. A single slow one is allowed. */
function unpunctual({ starts, asks, calmAt, promptMs, evidence: { punctualMs } }: Facts): Violation[] {
  if (calmAt === null || punctualMs === undefined) return []
  const lates = starts
    .filter(({ scheduledFor, attempt }) => attempt === 1 && scheduledFor > calmAt + promptMs)
    .filter(({ name }) => asks.get(name)?.ask.ack === 'delivery')
    .map(({ at, scheduledFor }) => at - scheduledFor)
    .sort((a, b) => a - b)
  const median = lates[Math.floor(lates.length / 2)]
  if (lates.length < PUNCTUAL_COUNT_MIN || median === undefined || median <= punctualMs) return []
  return [violation('late', `half of the deliveries after the last fault began ${median} ms late or more`)]
}

/** Retries delayed for longer than their alarm allows. */
function delayedRetries({ asks, records }: Chain): Violation[] {
  const waitMsMax = Math.max(...asks.map(({ ask }) => ask.retryMsMax ?? Number.POSITIVE_INFINITY))
  return records.flatMap(({ occurrenceId, scheduledFor, at, retryAt = at }) => {
    // If the clock was set back before the instant, the retry also waits for the instant.
    const waitMs = retryAt - Math.max(at, scheduledFor)
    if (waitMs <= waitMsMax) return []
    const text = `${occurrenceId} is retried ${waitMs} ms after it failed; the limit is ${waitMsMax}`
    return [violation('late', text)]
  })
}

function lateViolation({ ask, alarmId }: AskCall, instant: number, ms: number): Violation {
  return violation('late', `${ask.name} (${alarmId}) began ${ms} ms late for ${instant}`)
}

function isOpen({ answer }: Chain['calls'][number]): boolean {
  return answer === 'unknown'
}

function recordedAt({ records }: Chain): Map<number, number> {
  const first = new Map<number, number>()
  for (const record of records)
    if (isDelivered(record) && !first.has(record.scheduledFor)) first.set(record.scheduledFor, record.at)
  return first
}

function activityOf({ starts, records }: Chain): number[] {
  return [...starts, ...records].map(({ at }) => at).sort((a, b) => a - b)
}
