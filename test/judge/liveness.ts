import { type Violation, violation } from './breach.ts'
import { type Facts, isDelivered } from './facts.ts'
import { type AskCall, type Chain, lastCallAt, standing } from './model.ts'
import { countUpTo } from './sorted.ts'

/** Things go on: once all is calm, what is due begins soon, and nothing is left over or fails by itself. */
export function liveness(facts: Facts): Violation[] {
  const { evidence, chains, calmAt } = facts
  const found = evidence.pending.map((alarmId) =>
    violation('pending', `${alarmId} still waits after the drain`),
  )
  for (const text of evidence.overdue ?? []) found.push(violation('late', text))
  for (const entry of evidence.entries)
    if (entry.type === 'trouble') found.push(violation('trouble', `run ${entry.run}: ${entry.text}`))
  for (const chain of chains) found.push(...putOff(chain))
  found.push(...unpunctual(facts))
  if (calmAt !== null) for (const chain of chains) found.push(...late(chain, calmAt, facts))
  return found
}

/**
 * What began late although nothing was in its way. Only where it is certain what stands: no call was left open. What comes
 * before it of the same alarm may hold it up, so the time is counted from the last that was heard of the alarm, and not
 * at all where it may have to wait for a report.
 */
function late(chain: Chain, calmAt: number, facts: Facts): Violation[] {
  const [call, another] = standing(chain)
  if (call === undefined || another !== undefined || chain.calls.some(isOpen)) return []
  const { ask } = call
  if (ask.ack === 'report' && ask.instants.length > 1) return []
  const began = ask.toLog ? toldAt(chain) : call.delivered
  const from = Math.max(calmAt, lastCallAt(chain))
  let signs: number[] | null = null
  return ask.instants.flatMap((instant) => {
    const at = began.get(instant)
    const due = Math.max(from, instant + (ask.jitterMs ?? 0))
    if (at === undefined || at - due <= facts.promptMs) return []
    signs ??= signsOf(chain)
    const before = signs[countUpTo(signs, at - 1) - 1] ?? due
    const free = Math.max(due, before)
    if (at - free <= facts.promptMs || facts.full.some(free, at)) return []
    return [lateViolation(call, instant, at - due)]
  })
}

/** So many must have begun before it is said that they begin late. */
const PUNCTUAL_COUNT_MIN = 20

/** Whether half of what comes due when all has long been calm begins late: one may be slow, not all of them. */
function unpunctual({ starts, asks, calmAt, promptMs, evidence: { punctualMs } }: Facts): Violation[] {
  if (calmAt === null || punctualMs === undefined) return []
  const lates = starts
    .filter(({ scheduledFor, attempt }) => attempt === 1 && scheduledFor > calmAt + promptMs)
    .filter(({ name }) => asks.get(name)?.ask.ack === 'delivery')
    .map(({ at, scheduledFor }) => at - scheduledFor)
    .sort((a, b) => a - b)
  const median = lates[Math.floor(lates.length / 2)]
  if (lates.length < PUNCTUAL_COUNT_MIN || median === undefined || median <= punctualMs) return []
  return [violation('late', `half of what was due in the calm began ${median} ms late, or more`)]
}

/** Attempts that are put off for longer than their alarm allows. */
function putOff({ asks, records }: Chain): Violation[] {
  const waitMsMax = Math.max(...asks.map(({ ask }) => ask.retryMsMax ?? Number.POSITIVE_INFINITY))
  return records.flatMap(({ occurrenceId, scheduledFor, at, retryAt = at }) => {
    // A clock that was set back is before the instant again, which is waited for too.
    const waitMs = retryAt - Math.max(at, scheduledFor)
    if (waitMs <= waitMsMax) return []
    const text = `${occurrenceId} is tried again ${waitMs} ms after it failed, and should be within ${waitMsMax}`
    return [violation('late', text)]
  })
}

function lateViolation({ ask, alarmId }: AskCall, instant: number, ms: number): Violation {
  return violation('late', `${ask.name} (${alarmId}) began ${ms} ms later for ${instant} than it could have`)
}

function isOpen({ answer }: Chain['calls'][number]): boolean {
  return answer === 'unknown'
}

function toldAt({ records }: Chain): Map<number, number> {
  const told = new Map<number, number>()
  for (const record of records)
    if (isDelivered(record) && !told.has(record.scheduledFor)) told.set(record.scheduledFor, record.at)
  return told
}

function signsOf({ starts, records }: Chain): number[] {
  return [...starts, ...records].map(({ at }) => at).sort((a, b) => a - b)
}
