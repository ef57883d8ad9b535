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
