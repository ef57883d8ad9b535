import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import type { Chain } from './model.ts'

/** An occurrence is tried as often as was asked for: not once more, and no fewer times before it is given up. */
export function tries({ starts, asks, chains }: Facts): Violation[] {
  const found: Violation[] = []
  for (const { name, occurrenceId, attempt } of starts) {
    const { triesMax = Number.POSITIVE_INFINITY } = asks.get(name)?.ask ?? {}
    if (attempt > triesMax)
      found.push(violation('tries', `${occurrenceId} is tried for the ${attempt}. time of ${triesMax}`))
  }
  return [...found, ...chains.flatMap(givenUp)]
}

/** What was cancelled or moved while it was tried is not tried again, and may fail before. */
function givenUp({ asks, calls, records }: Chain): Violation[] {
  const [call, another] = asks
  if (call?.ask.triesMax === undefined || another !== undefined) return []
  if (calls.some(({ kind, answer }) => kind === 'cancel' && answer !== 'no')) return []
  const { triesMax } = call.ask
  return records.flatMap(({ type, occurrenceId, attempts }) => {
    if (type !== 'alarm.failed' || attempts === undefined || attempts >= triesMax) return []
    return [violation('tries', `${occurrenceId} failed for good after ${attempts} tries of ${triesMax}`)]
  })
}
